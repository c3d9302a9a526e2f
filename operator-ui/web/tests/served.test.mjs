// The real program under the page: it is killed in the middle of a stream and started again, the page sleeps, two
// windows answer at once, the journal is mended. What the page shows in the end is what the journal holds.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";
import { address, either, killed, missing, Place } from "./program.mjs";
import { expected, has, messagesOf, plain, rowsOf } from "./reading.mjs";
import { armed, sleep, until } from "./stage.mjs";

const skip = missing("the page while the program is killed");
/** How often the program is killed, in the slice and in the whole. */
const KILLS = either(10, 200);

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const ROLES = "roles:\n  owner: { executor: scripted }\n  writer: { executor: scripted }\n";
const WORDS = "I look at it from one side and then from another, and then I say what I think of it.";

/** A chain of nodes of one role, each of which says something, again and again. */
function streams(nodes, { each = 3, pieces = 60, every = 8, words = WORDS, first = { pieces, every } } = {}) {
  const names = Array.from({ length: nodes }, (_, at) => `n${at}`);
  const chain = ["begin", ...names, "end"];
  const pace = (node, at) => (node === "n0" && at === 0 ? first : { pieces, every });
  const stream = (node, at) => `stream: { text: '${node} says ${at}. ${words}', pieces: ${pace(node, at).pieces}, every-ms: ${pace(node, at).every} }`;
  const said = (node) => Array.from({ length: each }, (_, at) => `      - ${stream(node, at)}\n      - write: { path: ${node}-${at}.md, text: 'What ${node} wrote.' }\n`).join("");
  return {
    "demo/flow.yaml": `workflow:\n  name: Streams\n  nodes:\n    - { id: begin, role: owner }\n${names.map((node) => `    - { id: ${node}, role: writer }\n`).join("")}    - { id: end, role: owner }\n  edges:\n${chain.slice(1).map((to, at) => `    - { from: ${chain[at]}, to: ${to} }\n`).join("")}${ROLES}`,
    "demo/script.yaml": `default: forward\nscript:\n${names.map((node) => `  - node: ${node}\n    usage: { input-tokens: 310, output-tokens: 42 }\n    say:\n${said(node)}      - forward: 'What ${node} thinks.'\n`).join("")}`,
  };
}
/** What a test does in a workspace of its own, and with the windows that it opens: they close, and what else it keeps
 * ends, before the workspace vanishes. */
async function during(files, work) {
  const place = new Place(files);
  const kept = [];
  const keep = (end) => void kept.push(end);
  const look = async () => {
    const window = await open(browser, await place.link());
    keep(window.close);
    return window;
  };
  try {
    await work({ place, keep, look });
  } finally {
    for (const end of kept) await end();
    await place.end();
  }
}
const begin = (place, more = {}) => place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, ...more });
const feedOf = (flow, role) => `/p/${flow.project}/f/${flow.flow}/r/${role}`;
/** Opens a printed address. The cookie is there when the page is connected; who leaves before may be without it. */
async function signIn(page, printed) {
  await page.goto(printed);
  await until(() => page.url(), (url) => !url.includes("token"), "the token leaves the address");
  await page.locator(".shell[data-line=open]").waitFor();
}
const over = (page) => until(() => page.locator("main").innerText(), (text) => /\bCancelled\b/i.test(text), "the flow is over");

test(`through ${KILLS} kills in the middle of a stream nothing is lost and nothing is there twice, in the window that stays and in those opened anew`, { skip }, () => during(
  // Far more than is ever streamed: it is cancelled when it was killed often enough.
  streams(Math.ceil(KILLS / 10) + 2, { each: 30, pieces: 80, every: 20 }),
  async ({ place, look }) => {
    await place.serve();
    const flow = await begin(place);
    const { page, complaints } = await look();
    await page.goto(place.origin + feedOf(flow, "writer"));
    // It is never loaded anew: it goes on with the cursor it has once its browser knows the new token.
    const stays = await page.context().newPage();
    await stays.goto(place.origin + feedOf(flow, "writer"));
    const seen = new Map();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await page.locator("[role=log] .caret").waitFor();
      for (const row of await mounted(page)) if (!row.pending) seen.set(row.seq, row.text);
      // Not in step with anything that the flow does.
      await sleep((kill * 37) % 190);
      await place.kill();
      await place.serve("--resume");
      await signIn(page, await place.link());
      await page.goto(place.origin + feedOf(flow, "writer"));
    }
    await page.locator("[role=log] .caret").waitFor();
    assert.equal(place.run("cancel", flow.flow).code, 0);
    await over(page);
    // The flow is over before its turn is; the last words are recorded with the end of the turn.
    await until(() => place.log(flow.flow).at(-1).fact, (fact) => fact === "turn_ended", "the turn is over");
    await place.kill();
    const journal = place.log(flow.flow);
    assert.deepEqual(journal.map((fact) => fact.seq), journal.map((_, at) => at + 1), "the journal has no hole");
    const answers = answersOf(journal, "writer");
    const wanted = plain(expected(place.view(flow.flow, "writer", "feed")));
    const said = answers.filter((text) => text.includes(" says "));
    assert.deepEqual(wanted.filter((row) => said.includes(row.text)).map((row) => row.text), said, "the feed has each answer of the journal once");
    await place.serve();
    await signIn(page, await place.link());
    await page.goto(place.origin + feedOf(flow, "writer"));
    for (const window of [page, stays]) {
      await window.bringToFront();
      await has(window, wanted.length, "all of the feed is there");
      assert.deepEqual(plain(await rowsOf(window)), wanted);
    }
    const shown = new Map(wanted.map((row) => [row.seq, row.text]));
    for (const row of plain([...seen].map(([seq, text]) => ({ seq, text })))) assert.equal(row.text, shown.get(row.seq), "what was once shown whole stays so");
    await page.bringToFront();
    await page.goto(`${place.origin}${feedOf(flow, "writer")}/transcript`);
    const told = place.view(flow.flow, "writer", "transcript").transcriptHistory;
    await until(() => page.locator("main[data-messages]").getAttribute("data-messages"), (n) => Number(n) === told.length, "all of the transcript is there");
    // A message with calls is shown by what it calls, a result behind the name of its tool, and a text without the marks of code.
    const row = (message) => (message.toolName === undefined ? (message.text ?? message.content ?? "").replaceAll("`", "") : `${message.toolName}${message.content ?? ""}`);
    const texts = told.map((message) => ((message.calls ?? []).length > 0 ? "" : row(message)).replaceAll(/\s+/g, " ").trim().slice(0, 80));
    const lines = await messagesOf(page);
    assert.deepEqual(lines.map((line, at) => (texts[at] === "" ? "" : line.replaceAll(/\s+/g, " ").slice(0, texts[at]?.length))), texts);
    assert.deepEqual(complaints.filter((line) => !away(line)), []);
  },
));

test("a tab that shows the first page takes the address of the next start as it took the one before", { skip }, () => during({}, async ({ place, look }) => {
  await place.serve();
  const { page } = await look();
  const connected = () => page.getByText("Connected").first().waitFor();
  await connected();
  for (let start = 0; start < 2; start += 1) {
    await place.kill();
    await place.serve();
    // Only the part after the # differs, so that the browser loads nothing.
    await signIn(page, await place.link());
    await connected();
    assert.equal(await page.getByRole("heading", { name: /^This browser is/ }).count(), 0);
  }
}));

test("what another process added while the server was away comes whole to a window that stayed, however much it is", { skip }, () => during(
  // More than goes into one message of the socket, by its bytes and by how many items it has.
  streams(6, { each: 20, pieces: 1, every: 0, words: `${WORDS} ${WORDS}`, first: { pieces: 100, every: 20 } }),
  async ({ place, look }) => {
    await place.serve();
    const flow = await begin(place);
    const { page } = await look();
    await page.goto(place.origin + feedOf(flow, "writer"));
    await page.locator("[role=log] .caret").waitFor();
    await place.kill();
    assert.equal(place.run("resume", flow.flow, "--improve", "none", "--feedback", "no").code, 0);
    await place.serve();
    const beside = await page.context().newPage();
    await signIn(beside, await place.link());
    await page.bringToFront();
    const wanted = plain(expected(place.view(flow.flow, "writer", "feed")));
    await has(page, wanted.length, "all that was added");
    assert.deepEqual(plain(await rowsOf(page)), wanted);
  },
));

test("a flow whose other process is killed stands there as stopped without a word of the journal, and goes on from the page", { skip }, () => during(streams(2, { each: 2, pieces: 30, every: 10 , first: { pieces: 400, every: 20 } }), async ({ place, keep, look }) => {
  await place.serve();
  const other = place.begin(["run", "demo/flow.yaml", "--improve", "none", "--feedback", "no"]);
  keep(() => killed(other));
  const { page } = await look();
  await page.goto(`${place.origin}/flows`);
  await page.getByRole("link", { name: "Streams" }).first().click();
  const resume = page.getByRole("button", { name: /^Continue(?! with)/ });
  await page.locator("[role=log] .row").first().waitFor();
  assert.equal(await resume.count(), 0);
  await killed(other);
  await resume.first().waitFor();
  await armed(page);
  await resume.first().click();
  // How it was to end was chosen when it began, in another process.
  await until(() => page.locator("main").innerText(), (text) => /\bCompleted\b/.test(text), "it goes on to its end, and asks nobody how");
  assert.equal(await resume.count(), 0);
}));

/** Nodes that each ask a question and then want their handoff approved. */
function asking(nodes) {
  const { "demo/flow.yaml": flow } = streams(nodes);
  const names = Array.from({ length: nodes }, (_, at) => `n${at}`);
  return {
    "demo/flow.yaml": flow.replaceAll("role: writer }", "role: writer, human-colab: true }"),
    "demo/script.yaml": `default: forward\nscript:\n${names.map((node) => `  - node: ${node}\n    turn: 1\n    say:\n      - 'What does ${node} need?'\n      - signal: prompt-human\n  - node: ${node}\n    say:\n      - write: { path: ${node}.md, text: 'What ${node} wrote.' }\n      - forward: 'What ${node} thinks.'\n`).join("")}`,
  };
}

test("of two windows that answer the same question of the program in the same moment one decides, the other is told, and both show the same", { skip }, async () => {
  const nodes = either(3, 20);
  await during(asking(nodes), async ({ place, look }) => {
    await place.serve();
    const flow = await begin(place, { improve: "none" });
    const windows = [await look(), await look()];
    const pages = windows.map((window) => window.page);
    /** Both windows answer in the same moment, once both can. What each presses is found before. */
    const race = async (ready, written, pressed) => {
      const found = [];
      for (const [at, page] of pages.entries()) {
        await page.bringToFront();
        await page.getByText(ready).first().waitFor();
        if (written[at] !== undefined) await page.getByLabel("Your answer").fill(written[at]);
        found.push(await page.getByRole("button", { name: pressed[at] }).first().elementHandle());
      }
      for (const page of pages) await armed(page);
      // The program gets neither before both were sent.
      place.server.kill("SIGSTOP");
      for (const button of found) await button.evaluate((element) => element.click());
      await sleep(100);
      place.server.kill("SIGCONT");
      await until(async () => (await Promise.all(pages.map((page) => page.getByRole("region", { name: "Errors" }).getByText("came second").count()))).toSorted().join(), (told) => told === "0,1", "whoever was second is told so");
      for (const page of pages) for (const close of await page.getByRole("button", { name: "Close this error" }).all()) await close.click();
      // What stays is the same in both: what was decided, and what waits.
      const shown = () => Promise.all(pages.map((page) => page.locator("main").first().innerText()));
      await until(shown, ([one, other]) => one === other, "both show the same");
    };
    for (let at = 0; at < nodes; at += 1) {
      await race(`What does n${at} need?`, [`one says yes to n${at}`, `two says yes to n${at}`], [/^Answer/, /^Answer/]);
      const [approve, decline] = [/^Approve/, /^Send back(?! with)/];
      await race("wants to hand over", [], [approve, at === nodes - 1 ? decline : approve]);
    }
    const facts = place.log(flow.flow);
    const replies = facts.filter((fact) => fact.fact === "operator_replied").map((fact) => fact.text);
    assert.equal(replies.length, nodes, "each question is answered once");
    const decided = facts.filter((fact) => fact.fact === "handoff_decided").map((fact) => fact.approval);
    assert.deepEqual(decided, [...new Set(decided)]);
    assert.equal(decided.length, nodes, "each handoff is decided once");
    await pages[0].goto(`${place.origin}/inbox`);
    // The list is a glance back; the journal has the rest.
    for (const text of replies.slice(-3)) await pages[0].getByText(`Answered: ${text}`).first().waitFor();
    for (const window of windows) assert.deepEqual(window.complaints, []);
  });
});

/** Lets a page sleep, as a machine does that is shut: nothing of it runs, and its sockets may go. */
async function sleeper(page) {
  const session = await page.context().newCDPSession(page);
  return {
    sleeps: async () => {
      await session.send("Page.setWebLifecycleState", { state: "frozen" });
      await page.context().setOffline(true);
    },
    wakes: async () => {
      await page.context().setOffline(false);
      await session.send("Page.setWebLifecycleState", { state: "active" });
    },
  };
}

for (const dies of [false, true]) {
  test(`a page that slept through much of a flow${dies ? ", and through the end of the server," : ""} has all of it when it wakes, and what was written`, { skip }, () => during(streams(6, { each: 20, pieces: 1, every: 0, words: `${WORDS} ${WORDS}`, first: { pieces: 100, every: 20 } }), async ({ place, look }) => {
    await place.serve();
    // Its roles look back, and then it asks for a word on the report: the text has a receiver.
    const flow = await begin(place, { improve: "graph-based" });
    const { page } = await look();
    await page.goto(place.origin + feedOf(flow, "writer"));
    await page.locator("[role=log] .caret").waitFor();
    await page.locator("textarea").first().fill("half a sentence");
    const { sleeps, wakes } = await sleeper(page);
    await sleeps();
    if (dies) {
      await place.kill();
      await place.serve("--resume");
    }
    const phase = () => {
      const shown = place.run("show", flow.flow, "--json");
      return shown.code === 0 ? JSON.parse(shown.out).screen.flow.phase : `forward, ${shown.err}`;
    };
    await until(phase, (now) => now === "feedback_consent", "the flow goes on while the page sleeps");
    await wakes();
    if (dies) {
      const beside = await page.context().newPage();
      await signIn(beside, await place.link());
      await page.bringToFront();
    }
    // A feed's cursor moves with what is in the feed: the last records of the journal may be none of it.
    const told = Math.max(...place.log(flow.flow).filter((fact) => fact.role === "writer" && fact.fact === "model_answered").map((fact) => fact.seq));
    await until(() => page.locator("[data-role]").getAttribute("data-seq", { timeout: 10_000 }), (seq) => Number(seq) >= told, "it has what its role said last");
    assert.equal(await page.locator("textarea").first().inputValue(), "half a sentence");
    assert.equal(place.run("feedback", flow.flow, "no").code, 0);
    await until(phase, (now) => now === "completed", "the flow is over");
    const wanted = plain(expected(place.view(flow.flow, "writer", "feed")));
    await has(page, wanted.length, "all that it slept through");
    assert.deepEqual(plain(await rowsOf(page)), wanted);
  }));
}

test("what a flow did while another screen was shown, or while the page slept, stands in its timeline as it does in one that is loaded anew", { skip }, () => during(streams(4, { each: 2, pieces: 30, every: 10 }), async ({ place, look }) => {
  await place.serve();
  const lanes = (page) => page.locator("section.strip .lane").evaluateAll((all) => all.map((lane) => [lane.querySelector(".name")?.textContent, lane.querySelectorAll(".block").length]));
  const hops = (page) => page.locator("section.strip .hop").count();
  const { page, complaints } = await look();
  const { sleeps, wakes } = await sleeper(page);
  for (const away of ["another screen", "a sleep"]) {
    const flow = await begin(place, { improve: "none" });
    const row = page.locator("nav a.flow").filter({ hasText: "Streams" }).first();
    await row.click();
    await page.locator("section.strip .block").first().waitFor();
    await page.evaluate(() => { window.stayed = true; });
    if (away === "another screen") await page.getByRole("link", { name: /^Inbox/ }).first().click();
    else await sleeps();
    await until(() => place.log(flow.flow).map((one) => one.fact), (facts) => facts.includes("forward_pass_closed"), "it ends meanwhile");
    if (away === "another screen") await row.click();
    else await wakes();
    const done = async () => [await lanes(page), await hops(page)];
    await until(() => page.locator("main").innerText(), (text) => /\bCompleted\b/.test(text), "the flow is over");
    const beside = await page.context().newPage();
    await beside.goto(page.url());
    await beside.locator("section.strip .hop").first().waitFor();
    const fresh = JSON.stringify([await lanes(beside), await hops(beside)]);
    await beside.close();
    await until(async () => JSON.stringify(await done()), (now) => now === fresh, `after ${away} its timeline is ${fresh}`);
    assert.equal(await page.evaluate(() => window.stayed), true, "nothing was loaded anew");
  }
  assert.deepEqual(complaints.filter((line) => !/ERR_INTERNET_DISCONNECTED|WebSocket/.test(line)), []);
}));

test("when the journal was mended, the page shows what is left of it and nothing of what was taken out, and goes on from there", { skip }, () => during(streams(3, { each: 4, pieces: 4, every: 2 }), async ({ place, look }) => {
  /** A byte of the record of a role's text is changed, and the journal repaired. */
  const mended = (flow, words) => {
    const journal = join(place.state(flow), "journal/00000001.jsonl");
    place.put(journal, place.read(journal).replace(`"text":"${words}`, `"text":"${words.toUpperCase()}`));
    assert.equal(place.run("repair", flow, "--apply").code, 0);
  };
  await place.serve();
  const flow = await begin(place, { improve: "none" });
  const { page } = await look();
  await page.goto(place.origin + feedOf(flow, "writer"));
  const said = () => page.getByRole("log").innerText();
  const shows = (words, not) => until(said, (text) => text.includes(words) && !text.includes(not), `it shows "${words}" and not "${not}"`);
  await shows("n2 says 3.", "nothing like this");
  // While the server is away, and then beside it.
  await until(() => page.locator("main").innerText(), (text) => /Completed/.test(text), "the flow is over");
  await place.kill();
  mended(flow.flow, "n2 says 2.");
  await place.serve();
  const beside = await page.context().newPage();
  await signIn(beside, await place.link());
  await page.bringToFront();
  await shows("n2 says 1.", "n2 says 2.");
  mended(flow.flow, "n1 says 3.");
  await shows("n1 says 2.", "n2 says");
  const resume = page.getByRole("button", { name: /^(Continue|Resume)(?! with)/ }).first();
  await resume.waitFor();
  await armed(page);
  await resume.click();
  await shows("n2 says 3.", "N1 SAYS");
  await until(() => page.locator("main").innerText(), (text) => /Completed/.test(text), "the flow is over again");
  const wanted = plain(expected(place.view(flow.flow, "writer", "feed")));
  await has(page, wanted.length, "the feed of the mended journal");
  assert.deepEqual(plain(await rowsOf(page)), wanted);
}));

test("the page beside a run is there again beside each resume after the run was killed, with all that was said", { skip }, () => during(streams(8, { each: 1, pieces: 80, every: 20 }), async ({ place, keep }) => {
  const { page, close } = await (async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    return { page: await context.newPage(), close: () => context.close() };
  })();
  keep(close);
  let drives = place.begin(["run", "demo/flow.yaml", "--ui"]);
  keep(() => killed(drives));
  let printed = await address(drives);
  const [row] = JSON.parse(place.run("ls", "--json").out).flows;
  for (let kill = 0; kill < 3; kill += 1) {
    // Its port is another each time, and so is all that the browser knows of it.
    await signIn(page, printed);
    await page.goto(new URL(feedOf(row, "writer"), printed).href);
    await page.locator("[role=log] .caret").waitFor();
    await killed(drives);
    drives = place.begin(["resume", row.flow, "--ui"]);
    printed = await address(drives);
  }
  await signIn(page, printed);
  await page.goto(new URL(feedOf(row, "writer"), printed).href);
  await page.locator("[role=log] .caret").waitFor();
  assert.equal(place.run("cancel", row.flow).code, 0);
  // The page beside it ends with it.
  await signIn(page, await place.serve());
  await page.goto(place.origin + feedOf(row, "writer"));
  await over(page);
  const wanted = plain(expected(place.view(row.flow, "writer", "feed")));
  await has(page, wanted.length, "all of the feed is there");
  assert.deepEqual(plain(await rowsOf(page)), wanted);
}));

/** What a role answered, as the journal has it: the text itself, or the pieces that streamed. */
function answersOf(journal, role) {
  const mine = journal.filter((fact) => fact.role === role);
  const drafts = (answer) => mine.filter((fact) => fact.fact === "draft_added" && fact.kind === "text" && fact.turn === answer.turn && fact.request === answer.request && fact.seq < answer.seq);
  return mine.filter((fact) => fact.fact === "model_answered").map((answer) => (typeof answer.text === "string" ? answer.text : drafts(answer).map((draft) => draft.text).join("")));
}

/** A browser's own errors when no server answers, or when a token is no longer valid. */
const away = (line) => /net::ERR_CONNECTION|WebSocket connection to|401/.test(line);
/** The rows that are drawn now. */
const mounted = (page) => page.getByRole("log").evaluate((log) => [...log.querySelectorAll("[data-at]")].map((row) => ({ seq: Number(row.dataset.seq), text: row.querySelector(".say > .md")?.textContent ?? null, pending: row.querySelector(".caret") !== null })));
