// The stand-ins of a server use the server's words for asks, nodes and flows, which are read from its source.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { stage } from "./ledger/told.mjs";
import { root } from "./program.mjs";
import { world } from "./world.mjs";

/** The texts of a file of the server, as patterns: what is put into them is anything. */
function texts(path) {
  const written = readFileSync(root + path, "utf8").replaceAll(/\\\n\s*/g, "");
  return [...written.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).filter((text) => /[a-z]{2}/.test(text));
}
const FOLD = "operator-ui/src/fold";
const FACTS = "state/facts/src";
const folded = readdirSync(root + FOLD).filter((name) => name.endsWith(".rs")).flatMap((name) => texts(`${FOLD}/${name}`)).concat(readdirSync(`${root}${FACTS}/words`).filter((name) => name !== "tests.rs").flatMap((name) => texts(`${FACTS}/words/${name}`)));
const escaped = (text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{[^}]*\}/g, ".+");
const patterns = folded.filter((text) => text.replaceAll(/\{[^}]*\}/g, "").trim() !== "").map((text) => new RegExp(`^(?:[\\w-]+(?:'s)? )?${escaped(text)}$`, "i"));
const statuses = ["standing.rs", "flow/phase.rs"].flatMap((name) => texts(`state/facts/src/view/${name}`)).concat(folded);
const isSaid = (text) => patterns.some((pattern) => pattern.test(text));

/** What a server is made to say of asks, nodes and flows. */
function said(flows, inbox) {
  const asks = [...Object.values(inbox.asks), ...flows.flatMap((state) => Object.values(state.asks))];
  const shorts = asks.filter((one) => !["text", "consent"].includes(one.kind.kind)).map((one) => one.short);
  const nodes = flows.flatMap((state) => Object.values(state.nodes)).filter((node) => node.words !== "");
  const rows = [...Object.values(inbox.flows), ...flows.map((state) => state.flow)];
  return { words: [...asks.map((one) => one.headline), ...shorts, ...nodes.map((node) => node.words)], statuses: rows.map((row) => row.status) };
}

test("a stand-in says no headline, no standing and no status that the server does not say", () => {
  for (const foreign of ["asks for cargo install", "Forward pass closed. Run a retrospective?"]) assert.equal(isSaid(foreign), false, foreign);
  const told = stage();
  const made = world();
  const all = [said(Object.values(told.flows), told.topic({ topic: "inbox" }).state), said(Object.values(made.flows).map((flow) => flow.state), made.inbox)];
  const foreign = (what, is) => [...new Set(all.flatMap((one) => one[what]).filter((text) => !is(text)))];
  assert.deepEqual(foreign("words", isSaid), []);
  assert.deepEqual(foreign("statuses", (status) => statuses.includes(status)), []);
});

const FEED = `${FACTS}/view/feed`;
const FEED_FILES = readdirSync(root + FEED, { recursive: true }).filter((name) => name.endsWith(".rs")).map((name) => `${FEED}/${name}`);
const ofFeeds = FEED_FILES.flatMap(texts);
const labels = ofFeeds.filter((text) => !/^[a-z_.]+$/.test(text) && /[A-Za-z]{3}/.test(text.replaceAll(/\{[^}]*\}/g, ""))).map((text) => new RegExp(`^${escaped(text)}$`));
const events = new Set(ofFeeds.filter((text) => /^[a-z]+\.[a-z_]+$/.test(text)));
const TOOLS = /^(?:[a-z]+(?:_[a-z]+)+|todo)$/;

/** What worlds that are drawn by hand still say, and no server does. */
const FOREIGN = new Set(["Allowed all edits for this flow"]);

/** Who speaks in the feeds of the stand-ins. */
const ROLES = new Set(["backend"]);

/** The words that the stand-ins and the tests themselves put into items, cards and decisions, each with its file. */
function written(member) {
  const names = readdirSync(new URL(".", import.meta.url), { recursive: true }).filter((name) => name.endsWith(".mjs"));
  return names.flatMap((name) => [...readFileSync(new URL(name, import.meta.url), "utf8").matchAll(new RegExp(`\\b${member}: "((?:[^"\\\\]|\\\\.)*)"`, "g"))].map(([, text]) => ({ name, text })));
}

test("no test has a feed say a label or an event, or a card a row, that the server does not say", () => {
  for (const foreign of ["handoff.returned", "Sent this back"]) assert.ok(!events.has(foreign) && !labels.some((label) => label.test(foreign)), foreign);
  const known = (text) => TOOLS.test(text) || ROLES.has(text) || isSaid(text) || labels.some((label) => label.test(text));
  assert.deepEqual(written("label").filter(({ text }) => !known(text)), []);
  assert.deepEqual(written("event").filter(({ text }) => !events.has(text)), []);
});

test("a stand-in says of decisions and of its feeds what the server says", () => {
  const made = world();
  const decided = [...made.inbox.decided, ...Object.values(made.inbox.asks).flatMap((one) => one.earlier)];
  assert.deepEqual([...new Set(decided.map((one) => one.words))].filter((words) => !isSaid(words) && !FOREIGN.has(words)), []);
  const items = Object.values(made.flows).flatMap((flow) => Object.values(flow.feeds ?? {})).flat().filter((item) => item.event !== null);
  const odd = items.filter((item) => !events.has(item.event) || !(isSaid(item.label) || labels.some((label) => label.test(item.label))));
  assert.deepEqual(odd.map((item) => [item.event, item.label]), []);
});
