// The small hearts: addresses, what can be seen, when an answer counts, rows of a feed, markdown, streamed text.
import { describe, expect, it } from "vitest";
import { Announcer, type Spoken } from "./announce";
import { callEnd, callLine, callOutput, callVerb } from "./calls";
import { completed, due, headline, places, ripe } from "./notify";
import { GRACE, keyMayAnswer, pointerMayAnswer, Typing } from "./arm";
import { momentOf } from "./figures";
import { choices, identical, inOrder, keyHints, questionOf, shortWords, wantsWords } from "./asks";
import { hides, visible } from "./escape";
import { anyOf, marked } from "./find";
import { foldFeed, foldOlder } from "./fold";
import { again, markdown, safeLink, settledUpTo } from "./md";
import { FRAME_MS, MANY, REPLAY_MS, restOf, waitedUntil } from "./pace";
import { inGraph, inText, lines, onStrip } from "./keylist";
import { ACTIONS } from "./keys";
import { cutAt } from "./past";
import { letters } from "./roles";
import { href, parse, type Route } from "./router";
import { consentLine, groupWords, handOff, kindOf, rowAt, Rows, rowsOf, saysNothingNew } from "./rows";
import { chord } from "./system";
import { tailAfter, tailed, type Tail } from "./tail";
import { ago, goesOn, inSentences, money, several, span, ticked, tokens, took, unticked } from "./words";
import type { Ask, AskKind, ConsentAnswer, FeedState, FlowRow, Item } from "./wire";

const at = (address: string): Route => {
  const url = new URL(address, "http://x");
  return parse(url);
};
const item = (id: string, type: Item["type"], tool: string | null = null, more: Partial<Item> = {}): Item => ({ id, first: Number(id.slice(1)), seq: Number(id.slice(1)), type, tool, label: "", text: "", event: null, interrupted: false, ...more } as Item);

describe("an address", () => {
  const all = ["/", "/inbox", "/inbox/f1/consent/c%20d", "/flows?project=a&state=running&q=x", "/p/a%2Fb/f/f1", "/p/a/f/f1/outline?node=n&at=7", "/p/a/f/f1/files/docs/a%20b.md?at=3", "/p/a/f/f1/events?kind=node", "/p/a/f/f1/r/owner_2?at=4#e4812", "/p/a/f/f1/r/owner/transcript?seg=archive-2&msg=17", "/p/a/f/f1/improve", "/roles", "/settings/keys"];
  it.each(all)("is what it was after it was read: %s", (address) => expect(href(at(address))).toBe(address));
  it("of nothing says so", () => {
    for (const address of ["/nowhere", "/p/a", "/p/a/f", "/p/a/f/b/what", "/settings/none", "/p/a/f/b/r"]) expect(at(address).page).toBe("missing");
  });
  it("with a moment that is no number is the present", () => expect(at("/p/a/f/b?at=-3x")).toMatchObject({ at: null }));
});

describe("a text that somebody decides about", () => {
  it.each([["rm \u202e-rf", "rm \\u{202e}-rf"], ["a\u200bb", "a\\u{200b}b"], ["a\x1b[2Kb", "a\\x1b[2Kb"], ["a\rb", "a\\x0db"], ["a\u00a0b", "a\\xa0b"], ["a\u{e0041}b", "a\\u{e0041}b"], ["a\u3164b", "a\\u{3164}b"]])("shows what cannot be seen: %j", (text, shown) => {
    expect(visible(text).map((piece) => piece.text).join("")).toBe(shown);
    expect(hides(text)).toBe(true);
  });
  it("keeps lines, tabs, other scripts and signs as they are", () => {
    const text = "a\n\tb \u00e9 \u4e2d \u{1f600} --locked";
    expect(visible(text)).toEqual([{ text, hidden: false }]);
  });
});

describe("a key", () => {
  const key = (timeStamp: number, name = "y"): { key: string; timeStamp: number } => ({ key: name, timeStamp });
  it("answers nothing that is not painted, or not long enough", () => {
    const typing = new Typing();
    const press = key(1_000);
    typing.note(press);
    expect(keyMayAnswer(null, press, typing)).toBe(false);
    expect(keyMayAnswer(1_000 - GRACE + 1, press, typing)).toBe(false);
    expect(keyMayAnswer(1_000 - GRACE, press, typing)).toBe(true);
  });
  it("answers nothing while somebody types, however long the ask stands", () => {
    const typing = new Typing();
    for (let time = 0; time < 2_000; time += 66) {
      const press = key(time + 10_000);
      typing.note(press);
      if (time > 0) expect(keyMayAnswer(0, press, typing)).toBe(false);
    }
  });
  it("is not kept back by the modifier that was pressed for it", () => {
    const typing = new Typing();
    typing.note(key(5_000, "Alt"));
    const press = key(5_050);
    typing.note(press);
    expect(keyMayAnswer(0, press, typing)).toBe(true);
  });
  it("that is told twice counts once", () => {
    const typing = new Typing();
    const press = key(5_000);
    typing.note(press);
    typing.note(press);
    expect(keyMayAnswer(0, press, typing)).toBe(true);
  });
  it("and a pointer have to come after the ask was seen", () => {
    expect(pointerMayAnswer(1_000, 1_100)).toBe(false);
    expect(pointerMayAnswer(1_000, 1_400)).toBe(true);
  });
});

describe("an ask", () => {
  const ask = (kind: AskKind, more: Partial<Ask> = {}): Ask => ({ id: "a", flow: { project: "p", flow: "f" }, role: "owner", node: null, since: "2026-01-01", blocking: true, kind, ...more } as Ask);
  const consent = (id: string, shown: string, scope: string | null = "this"): AskKind => ({ kind: "consent", consent: id, action: `h${id}`, tool: "run", shown, facts: [], for_the_flow: scope, diff: null });
  it("is a line that begins with a capital, but for the name of a tool", () => {
    const short = (text: string, kind: AskKind = consent("c", "x")): string => shortWords({ short: text, kind });
    expect([short("write ledger/form.html"), short("fetch https://a.b"), short("Run cargo test"), short("mcp__memo__note {}")]).toEqual(["Write ledger/form.html", "Fetch https://a.b", "Run cargo test", "mcp__memo__note {}"]);
    expect(short("which rounding?", { kind: "stalled" })).toBe("which rounding?");
  });
  it("of a handoff is spelled in one way", () => {
    const sources = import.meta.glob<string>(["./**/*.svelte", "./**/*.ts", "!./wire.ts", "!./*.test.ts"], { eager: true, query: "?raw", import: "default" });
    expect(Object.entries(sources).flatMap(([name, text]) => (/hand-off|handed off/i.test(text) ? [name] : []))).toEqual([]);
  });
  it("for consent sends back the hash of what was shown", () => {
    const list = choices(ask(consent("c1", "ls")));
    expect(list.map((choice) => choice.id)).toEqual(["allow", "allow-flow", "deny", "deny-reason"]);
    expect(list[0]?.command("")).toEqual({ do: "allow", consent: "c1", action: "hc1", for_the_flow: false });
    expect(list[3]?.command("use git mv")).toEqual({ do: "deny", consent: "c1", action: "hc1", reason: "use git mv" });
  });
  const asks = (more: Partial<Extract<AskKind, { kind: "text" }>> = {}): AskKind => ({ kind: "text", reason: "prompt_human", question: "Which?", may_retry: false, ...more });
  it("is answered with an offered text by one press, and its list is not shown twice", () => {
    const one = ask(asks({ question: "Which store?\n\n1. One file\n2. A server", choices: ["One file", "A server"] }));
    expect(choices(one).map(({ words, key }) => [words, key])).toEqual([["One file", "Digit1"], ["A server", "Digit2"]]);
    expect(choices(one)[1]?.command("")).toEqual({ do: "reply", to: { role: "owner" }, text: "A server", asked: "2026-01-01" });
    expect(questionOf(one)).toBe("Which store?");
    expect(keyHints(one)).toEqual([{ key: "1–2", words: "an offered answer" }, { key: "R", words: "answer" }]);
    // A list that the role wrote itself is its text, and no button.
    const written = ask(asks({ question: "Answer these:\n\n1. How many?\n2. Why?" }));
    expect(choices(written)).toEqual([]);
    expect(questionOf(written)).toContain("1. How many?");
  });
  it("offers what has no key of its own, too", () => {
    const many = ask(asks({ choices: ["a", "b", "c", "d", "e", "f"] }));
    expect(choices(many).map(({ key }) => key)).toEqual(["Digit1", "Digit2", "Digit3", "Digit4", "Digit5", null]);
    expect(keyHints(many)[0]).toEqual({ key: "1–5", words: "an offered answer" });
  });
  it("of a turn that was stopped is to retry it, and no answer", () => {
    const stopped = ask(asks({ reason: "autonomous_abort", question: "", may_retry: true }), { short: "Answer" });
    expect(shortWords(stopped)).toBe("Retry turn");
    expect(wantsWords(stopped)).toBe(false);
    expect(choices(stopped).map(({ id, primary }) => [id, primary ?? false])).toEqual([["retry", true], ["retry-note", false]]);
  });
  it("without a scope in words offers none for the flow", () => {
    expect(choices(ask(consent("c1", "ls", null))).map((choice) => choice.id)).not.toContain("allow-flow");
  });
  it("is the same as another only when everything that is shown is the same", () => {
    const [a, b, c] = [ask(consent("1", "ls")), ask(consent("2", "ls")), ask(consent("3", "ls -a"))];
    expect(identical(a, [a, b, c])).toEqual([a, b]);
  });
  it("that blocks stands before one that can wait, then the longest wait", () => {
    const old = ask({ kind: "stalled" }, { id: "old", since: "2026-01-01" });
    const fresh = ask({ kind: "stalled" }, { id: "new", since: "2026-01-02" });
    const easy = ask({ kind: "stopped" }, { id: "easy", since: "2025-01-01", blocking: false });
    expect(inOrder([easy, fresh, old]).map((one) => one.id)).toEqual(["old", "new", "easy"]);
  });
});

describe("rows of a feed", () => {
  it("collapse reads and searches, and never one that failed", () => {
    const rows = rowsOf([item("f1", "tool-success", "read_file"), item("f2", "tool-success", "search_files"), item("f3", "tool-error", "read_file"), item("f4", "tool-success", "read_file")]);
    expect(rows.map((row) => row.kind)).toEqual(["group", "call", "call"]);
    expect(rows[0]?.key).toBe("f1");
  });
  it("say what a run was", () => {
    expect(groupWords([item("f1", "tool-success", "read_file"), item("f2", "tool-success", "search_files"), item("f3", "tool-success", "read_file")])).toBe("Read 2 files, searched 1 time");
  });
  it("find the row of an event", () => {
    const rows = rowsOf([item("f10", "assistant"), item("f20", "assistant"), item("f30", "assistant")]);
    expect([5, 10, 25, 99].map((seq) => rowAt(rows, seq))).toEqual([0, 0, 1, 2]);
  });
  it("know the newest edit that worked", () => {
    const rows = new Rows();
    rows.of([item("f1", "tool-success", "edit_file"), item("f2", "tool-error", "edit_file")]);
    expect(rows.newest).toBe("f1");
  });
  it("know the newest task list that was written, and a patch as an edit", () => {
    const tasks = [{ text: "a", state: "open" as const }];
    const rows = new Rows();
    const made = rows.of([item("f1", "tool-success", "todo", { tasks }), item("f2", "tool-success", "apply_patch"), item("f3", "tool-error", "todo"), item("f4", "tool", "todo", { tasks, pending: true })]);
    expect([rows.list, rows.newest, made[1]?.kind]).toEqual(["f1", "f2", "edit"]);
    rows.of([item("f1", "tool-success", "todo", { tasks }), item("f5", "tool-success", "todo", { tasks })]);
    expect([rows.list, rows.newest]).toEqual(["f5", null]);
  });
  it("show an ask as an ask and a compaction as one", () => {
    expect(kindOf(item("f1", "event", null, { event: "consent.requested" }))).toBe("ask");
    expect(kindOf(item("f1", "event", null, { event: "session.compacted" }))).toBe("compaction");
  });
});

describe("rows of a feed that changes", () => {
  /** Numbers that look random and are the same each time. */
  const dice = (seed: number) => (sides: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * sides);
  };
  const KINDS: [Item["type"], string | null, Partial<Item>][] = [
    ["assistant", null, {}], ["tool-success", "read_file", {}], ["tool-success", "search_files", {}], ["tool", "read_file", {}], ["tool-error", "read_file", {}],
    ["tool-success", "edit_file", {}], ["tool-error", "edit_file", {}], ["event", null, { event: "turn.ended", text: "" }], ["reasoning", null, {}],
  ];
  it.each(Array.from({ length: 60 }, (_, seed) => seed))("are those made anew, whatever happened to it: %i", (seed) => {
    const roll = dice(seed);
    const some = (first: number): Item => {
      const [type, tool, more] = KINDS[roll(KINDS.length)] ?? ["assistant", null, {}];
      return item(`f${first}`, type, tool, { ...more, label: String(roll(9)) });
    };
    let state: FeedState = { items: [], total: 0, before: null };
    let tails = new Map<string, Tail>();
    let oldest = 100_000;
    let newest = oldest;
    const rows = new Rows();
    for (let step = 0; step < 80; step += 1) {
      const any = (): number => state.items[roll(state.items.length)]?.first ?? newest;
      const what = roll(8);
      if (what < 3) state = foldFeed(state, Array.from({ length: 1 + roll(4) }, () => some((newest += 1 + roll(3)))));
      else if (what === 3) state = foldFeed(state, [some(any()), some(newest)]);
      else if (what === 4) state = foldFeed(state, [some(oldest + roll(newest - oldest + 1))]);
      else if (what === 5) state = foldOlder(state, [some((oldest -= 2)), some(oldest + 1)], null);
      else if (what === 6) tails = new Map([[`f${any()}`, { text: `t${step}`, bytes: 2, at: "t" }], ["new", { text: `n${step}`, bytes: 2, at: "t" }]]);
      else tails = new Map();
      const items = tailed(state.items, tails, "backend");
      const anew = new Rows();
      expect(rows.of(items)).toEqual(anew.of(items));
      expect(rows.newest).toBe(anew.newest);
      expect(new Set(items.map((one) => one.id)).size).toBe(items.length);
    }
  });
  it("are the very objects of before where nothing changed", () => {
    const rows = new Rows();
    const items = [item("f1", "assistant"), item("f2", "tool-success", "read_file"), item("f3", "tool-success", "read_file"), item("f4", "assistant")];
    const before = rows.of(items);
    const after = rows.of([...items.slice(0, 3), item("f4", "assistant", null, { text: "more" }), item("f5", "assistant")]);
    expect(after.map((row, at) => row === before[at])).toEqual([true, true, false, false]);
    expect(rows.of([...items])).toHaveLength(3);
  });
  it("know the newest edit after it became another", () => {
    const rows = new Rows();
    const [one, two] = [item("f1", "tool-success", "edit_file"), item("f2", "tool-success", "edit_file")];
    rows.of([one, two]);
    rows.of([one, item("f2", "tool-error", "edit_file"), item("f3", "assistant")]);
    expect(rows.newest).toBe("f1");
  });
});

describe("what waits to be drawn", () => {
  it("is drawn with the next frame when a person watches it", () => {
    expect(restOf({ items: 1, began: 1_000 }, 1_000, 500, true)).toBe(0);
    expect(restOf({ items: 1, began: 1_000 }, 1_000, 990, true)).toBe(FRAME_MS - 10);
  });
  it("waits for the rest of a replay, and never longer than a person waits", () => {
    expect(restOf({ items: MANY, began: 1_000 }, 1_000, 500, true)).toBe(FRAME_MS);
    expect(restOf({ items: 9 * MANY, began: 1_000 }, 1_000 + REPLAY_MS - 5, 500, true)).toBe(5);
    expect(restOf({ items: 9 * MANY, began: 1_000 }, 1_000 + REPLAY_MS, 500, true)).toBe(0);
  });
  it("waits until the end of what was missed is told", () => {
    expect(restOf({ items: 1, began: 1_000 }, 1_000, 500, false)).toBe(REPLAY_MS);
    expect(restOf({ items: 1, began: 1_000 }, 1_000 + REPLAY_MS, 500, false)).toBe(0);
  });
});

describe("how long an ask has waited", () => {
  it("is counted each second of the first minute, and by a slower clock after that", () => {
    const clocks = { coarse: 51_000, exact: 54_000 };
    const waited = (since: number): number => waitedUntil(since, () => clocks.coarse, () => clocks.exact) - since;
    expect(waited(0)).toBe(54_000);
    clocks.exact = 55_000;
    expect(waited(0)).toBe(55_000);
    clocks.coarse = 71_000;
    clocks.exact = 75_000;
    expect(waited(0)).toBe(71_000);
  });
});

describe("markdown", () => {
  it("of a text that grows keeps what is drawn, and is what it is without that", () => {
    const text = "# A\n\n- one\n- two\n\n> said *so*\n\nAnd *more* of `it`, and a [link](https://example.org), **and so on**.\n\n```\nx\n```\n\nSee [one].\n\n[one]: https://example.org\n\nEnd.";
    let drawn: ReturnType<typeof markdown> = [];
    for (let end = 1; end <= text.length; end += 1) {
      drawn = again(drawn, markdown(text.slice(0, end), true));
      expect([...drawn]).toEqual([...markdown(text.slice(0, end), true)]);
    }
    const [before, after] = [markdown("One *two* `three` fo", true), markdown("One *two* `three` four", true)];
    const inside = (tokens: typeof before): readonly object[] => (tokens[0] !== undefined && "tokens" in tokens[0] ? (tokens[0].tokens ?? []) : []);
    expect(inside(again(before, after)).map((token, at) => token === inside(before)[at])).toEqual([true, true, true, true, false]);
  });
  it("settles before the last empty line, but never inside a fence", () => {
    expect(settledUpTo("a\n\nb")).toBe(3);
    expect(settledUpTo("a\n\n```\nx\n\ny")).toBe(3);
    expect(settledUpTo("a")).toBe(0);
  });
  it("says the same of a text that grows as of one that is whole", () => {
    const text = "# A\n\n- one\n- two\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\nAnd *more*.";
    const plain = (tokens: readonly { type: string; raw: string }[]): string[] => tokens.filter((token) => token.type !== "space").map((token) => `${token.type} ${token.raw.trim()}`);
    for (let end = 1; end <= text.length; end += 1) expect(plain(markdown(text.slice(0, end), true))).toEqual(plain(markdown(text.slice(0, end), false)));
  });
  it("leads only to the web, to mail and to this page", () => {
    expect(safeLink("https://example.org/a")).toBe("https://example.org/a");
    expect(safeLink("mailto:a@example.org")).not.toBeNull();
    for (const bad of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.example", "/api/session", " javascript:1", "\u0001javascript:1"]) expect(safeLink(bad)).toBeNull();
  });
});

describe("streamed text", () => {
  it("goes on where its bytes say, in letters of any length", () => {
    const first = tailAfter(null, null, { offset: 0, text: "h\u00e9" }, "t");
    expect(first).toMatchObject({ text: "h\u00e9", bytes: 3 });
    expect(tailAfter(first, null, { offset: 3, text: "!" }, "t")?.text).toBe("h\u00e9!");
  });
  it("is asked for whole when a piece is missing", () => {
    expect(tailAfter({ text: "ab", bytes: 2, at: "t" }, null, { offset: 5, text: "x" }, "t")).toBeNull();
  });
  it("is not doubled by a piece that is there", () => {
    const had = { text: "abcd", bytes: 4, at: "t" };
    expect(tailAfter(had, null, { offset: 2, text: "cd" }, "t")).toBe(had);
  });
});

describe("a screen reader", () => {
  it("hears at most one message in three seconds, the newest of each subject, and the urgent first", () => {
    const said: Spoken[] = [];
    let now = 0;
    let timer: { at: number; run: () => void } | null = null;
    const announcer = new Announcer(() => now, (after, run) => { timer = { at: now + after, run }; return () => undefined; });
    announcer.to((spoken) => said.push(spoken));
    const pass = (): void => { const due = timer; timer = null; if (due !== null) { now = due.at; due.run(); } };
    announcer.say("turn a", "a finished turn 1");
    announcer.say("turn a", "a finished turn 2");
    announcer.say("ask", "b needs you");
    announcer.say("line", "Connection lost.", true);
    pass();
    expect(said).toEqual([{ polite: "", urgent: "Connection lost." }]);
    const before = now;
    pass();
    expect(said.at(-1)?.polite).toBe("a finished turn 2");
    expect(now - before).toBe(3_000);
    pass();
    expect(said).toHaveLength(3);
  });
});

describe("words", () => {
  it("say numbers as a person does", () => {
    expect([640, 1_200, 9_999, 32_768, 122_000, 999_999, 1_240_000].map(tokens)).toEqual(["640", "1.2k", "9.9k", "32k", "122k", "999k", "1.24M"]);
    expect([money(0), money(5_000), money(2_870_000)]).toEqual(["$0.00", "< $0.01", "$2.87"]);
    expect([took(120), took(11_000), took(480_000)]).toEqual(["0.1 s", "11 s", "8 m"]);
    expect([span(41 * 60_000), span(125 * 60_000)]).toEqual(["41 min", "2 h 5 min"]);
    expect([took(9_960), took(59_700), took(3_590_000), took(7_190_000)]).toEqual(["10 s", "1 m", "1 h", "2 h"]);
    expect([span(59_700), span(3_590_000), span(47 * 3_600_000), span(6_370 * 3_600_000)]).toEqual(["1 min", "1 h", "47 h", "265 d 10 h"]);
    expect(several(1, "file")).toBe("1 file");
    expect(ago(new Date(0).toISOString(), 125_000)).toBe("2m");
  });
  it("put what a terminal says into sentences, and leave names and commands as they are", () => {
    const told = (what: string, why: string, way: string) => Object.values(inSentences({ code: "x", what, why, try: way })).slice(1);
    expect(told("harb is not a file of the workspace", "only files of the workspace are run", "a-society check")).toEqual(["harb is not a file of the workspace.", "Only files of the workspace are run.", "Try: a-society check"]);
    expect(told("the message was not understood", "unknown field `title`", "load the page anew")).toEqual(["The message was not understood.", "Unknown field title.", "Load the page anew."]);
    expect(told("This was answered already.", "", "start it anew: a-society run flow.yaml")).toEqual(["This was answered already.", "", "Start it anew: a-society run flow.yaml"]);
    // A command with a word to be filled in is nothing to type on a page.
    expect([told("a", "b", "start it anew: a-society run FILE")[2], told("a", "b", "a-society status FLOW")[2]]).toEqual(["Start it anew.", ""]);
  });
  it("give a role two letters, and another instance its number", () => {
    expect([letters("backend"), letters("code-reviewer"), letters("owner_2")]).toEqual(["Ba", "Cr", "O2"]);
  });
  it("are found and marked wherever they stand", () => {
    expect(anyOf("Compact backend context", "back com")).toBe(true);
    expect(marked("Compact", "com")).toEqual([{ text: "Com", hit: true }, { text: "pact", hit: false }]);
  });
  it("are marked as words of two letters and more, and never within another word", () => {
    const hits = (text: string, query: string): string[] => marked(text, query).flatMap((piece) => (piece.hit ? [piece.text] : []));
    expect(hits("change half a cent", "half a cent")).toEqual(["half", "cent"]);
    expect(hits("center, a cent", "cent")).toEqual(["cent"]);
    expect(marked("center, a cent", "cent")[0]?.text).toBe("center, a ");
    expect(hits("feedback", "back")).toEqual([]);
    expect(hits("api-report.md", "report .md")).toEqual(["report", ".md"]);
  });
});

describe("a consent in a feed", () => {
  const told = (answer: ConsentAnswer | null, label = "Asks for consent") => consentLine({ ...item("f1", "event", null, { event: "consent.requested", label }), consent: { tool: "run_command", about: "without a wall; ls -la", answer } });
  it("is one line of who decided what about what", () => {
    const about = "without a wall; ls -la";
    expect(told(null)).toEqual({ icon: "question", words: "Asked you", about });
    expect(told("allow_once")).toMatchObject({ words: "Allowed by you", about });
    expect(told("allow_flow")).toMatchObject({ words: "Allowed by you for this flow" });
    expect(told("deny")).toMatchObject({ icon: "close", words: "Denied by you", about });
    expect(told("withdrawn", "Withdrawn")).toMatchObject({ icon: "close", words: "Withdrawn" });
    expect(consentLine({ ...item("f1", "event", null, { event: "role.active", label: "Active" }), text: "x" })).toBeNull();
  });
  it("names the rule that answered", () => {
    const by = (answer: ConsentAnswer, rule: string) => consentLine({ ...item("f1", "event", null, { event: "consent.ruled", label: "Allowed" }), consent: { tool: "run_command", about: "run pytest -q", answer, by: rule } });
    expect(by("allow_once", "--allow 'pytest *'")).toEqual({ icon: "check", words: "Allowed by --allow 'pytest *'", about: "run pytest -q" });
    expect(by("deny", "deny: web of the configuration")).toMatchObject({ icon: "close", words: "Denied by deny: web of the configuration" });
  });
  it("is not said again by the lines beside it", () => {
    expect(saysNothingNew({ ...item("f1", "event", null, { event: "human.awaiting_input", label: "Waits for your answer" }), text: "Which?" })).toBe(false);
    expect(saysNothingNew({ ...item("f1", "event", null, { event: "turn.ended", label: "Turn finished" }), text: "" })).toBe(true);
    expect(saysNothingNew({ ...item("f1", "event", null, { event: "usage.turn_summary", label: "Turn finished" }), text: "10 in, 0 out" })).toBe(false);
  });
});

describe("what goes on by itself", () => {
  const at = new Date(20_000).toISOString();
  it("says when, and whose limit holds it back", () => {
    expect(goesOn({ at, limit: false }, 8_000)).toBe("Retrying in 12 s");
    expect(goesOn({ at, limit: true }, 8_000)).toBe("Limit resets in 12 s");
    expect(goesOn({ at, limit: false, held_by: "openai" }, 8_000)).toBe("Waiting for the rate limit of openai, 12 s");
    expect(goesOn({ at, limit: false, held_by: "openai" }, 20_000)).toBe("Waiting for the rate limit of openai");
    expect(goesOn({ at, limit: false, held_by: "openai", failing: true }, 8_000)).toBe("Waiting for openai to recover, 12 s");
    expect(goesOn({ at, limit: false, held_by: "openai", failing: true }, 20_000)).toBe("Waiting for openai to recover");
  });
});

describe("a notification", () => {
  const open = (id: string, role: string | null, since: number, flow = "ledger"): Ask => ({ id, role, flow: { project: "orchard", flow }, title: flow, headline: `${role ?? flow} asks`, since: new Date(since).toISOString() }) as Ask;
  it("counts who waits, and not how much each of them asks", () => {
    const said = (...asks: Ask[]): string => headline(asks);
    expect(said(open("a", "backend", 0))).toBe("backend asks");
    expect(said(open("a", "backend", 0), open("b", "backend", 0))).toBe("backend waits, with 2 requests");
    expect(said(open("a", "backend", 0), open("b", "backend", 0), open("c", "qa", 0))).toBe("2 roles wait");
    expect(said(open("a", "backend", 0), open("b", "backend", 0, "billing"), open("c", "qa", 0))).toBe("3 roles wait");
    expect(said(open("a", "backend", 0), open("b", null, 0))).toBe("1 role and 1 flow wait");
    expect(said(open("a", null, 0), open("b", null, 0))).toBe("1 flow waits");
    expect(places([open("a", "backend", 0), open("b", "qa", 0), open("c", "qa", 0, "billing")])).toBe("ledger, billing");
  });
  it("tells of a flow that was completed since it was seen unfinished, once, and of none that was cancelled or was over", () => {
    const row = (flow: string, over: boolean, standing: string): FlowRow => ({ project: "p", flow, over, standing }) as FlowRow;
    const unfinished = new Set<string>();
    const told = (...rows: FlowRow[]): string[] => completed(rows, unfinished).map((one) => one.flow);
    expect(told(row("a", false, "working"), row("b", false, "working"), row("old", true, "completed"))).toEqual([]);
    expect(told(row("a", true, "completed"), row("b", true, "cancelled"), row("old", true, "completed"))).toEqual(["a"]);
    expect(told(row("a", true, "completed"))).toEqual([]);
    expect(told(row("a", false, "working"))).toEqual([]);
    expect(told(row("a", true, "completed"))).toEqual(["a"]);
  });
  it("comes when an ask has waited five seconds, and ten after the one before", () => {
    const asks = [open("old", "a", 1_000), open("new", "b", 5_000)];
    const none = new Set<string>();
    expect(due(asks, none, Number.NEGATIVE_INFINITY, 2_000)).toBe(4_000);
    expect(ripe(asks, none, 6_000).map((ask) => ask.id)).toEqual(["old"]);
    const told = new Set(["old"]);
    expect(due(asks, told, 6_000, 6_000)).toBe(10_000);
    expect(ripe(asks, told, 16_000).map((ask) => ask.id)).toEqual(["new"]);
    expect(due(asks, new Set(["old", "new"]), 16_000, 16_000)).toBeNull();
  });
});

describe("a handoff", () => {
  it("of one artifact is a sentence, and one that goes back says so", () => {
    const handed = (...files: [string, string, boolean][]) => item("i1", "handoff", null, { text: "x.md → nobody (back)", deliveries: files.map(([path, to, back]) => ({ path, to, back })) });
    expect(handOff(handed(["api → report.md", "review", false]))).toEqual({ words: "Handed over to review: api → report.md", back: false });
    expect(handOff(handed(["review-1.md (back)", "draft", true]))).toEqual({ words: "Sent back to draft: review-1.md (back)", back: true });
    expect([handOff(handed(["x.md", "a", false], ["y.md", "b", false])), handOff(handed())]).toEqual([null, null]);
  });
});

describe("a line of a call", () => {
  const call = (text: string, more: Partial<Item> = {}): Item => ({ text, tool: "x", label: "x", added: null, removed: null, ...more }) as Item;
  it("is the command or the file itself, and the verb is for those who see no sign", () => {
    const run = call("run cargo test\n44 passed", { asked: "run cargo test", command: "cargo test" });
    expect([callVerb(run, "run"), callLine(run, "run"), callOutput(run)]).toEqual(["run ", "cargo test", "44 passed"]);
    const edit = call("edit src/a.rs, line 3\nok", { tool: "edit_file", asked: "edit src/a.rs, line 3", path: "src/a.rs", line: 3, added: 1, removed: 2 });
    expect([callVerb(edit, "edit"), callLine(edit, "edit"), callOutput(edit)]).toEqual(["edit ", "src/a.rs, line 3", "ok"]);
    expect(callLine(call("read run the file.md"), "call")).toBe("read run the file.md");
    expect(callLine(call(""), "run")).toBe("x");
  });
  it("is what the call says and nothing that its text looks like", () => {
    const odd = call("write edit, 2 places: b (9 bytes).md (3 bytes)\nok", { tool: "write_file", asked: "write edit, 2 places: b (9 bytes).md (3 bytes)", path: "edit, 2 places: b (9 bytes).md" });
    expect([callVerb(odd, "edit"), callLine(odd, "edit")]).toEqual(["write ", "edit, 2 places: b (9 bytes).md"]);
    const refused = call("edit the file in another way", { type: "tool-error", tool: "edit_file" });
    expect([callLine(refused, "edit"), callOutput(refused)]).toEqual(["edit_file", "edit the file in another way"]);
  });
});

describe("the end of a call", () => {
  const call = (more: Partial<Item>): Item => ({ type: "tool-error", interrupted: false, exit: null, ...more }) as Item;
  it("is no failure where the operator stopped or denied it", () => {
    expect(callEnd(call({ end: "stopped" }))).toEqual({ words: "stopped by you", bad: false });
    expect(callEnd(call({ end: "denied" }))).toEqual({ words: "denied", bad: false });
    expect(callEnd(call({ end: "not_run" }))).toEqual({ words: "did not run", bad: false });
  });
  it("is a failure otherwise, with the exit code where there is one", () => {
    expect(callEnd(call({}))).toEqual({ words: "failed", bad: true });
    expect(callEnd(call({ end: "failed", exit: 2 }))).toEqual({ words: "exit 2", bad: true });
    expect(callEnd(call({ end: "failed", signal: 9 }))).toEqual({ words: "signal 9", bad: true });
    expect(callEnd(call({ end: "timed_out" }))).toEqual({ words: "timed out", bad: true });
    expect(callEnd(call({ end: "unknown" }))).toEqual({ words: "outcome unknown: check it", bad: true });
  });
  it("has no words while it runs and when it worked", () => {
    expect(callEnd(call({ type: "tool" }))).toBeNull();
    expect(callEnd(call({ type: "tool-success", exit: 0 }))).toBeNull();
    expect(callEnd(call({ type: "tool-success", exit: 2 }))).toEqual({ words: "exit 2", bad: false });
    expect(callEnd(call({ type: "tool", interrupted: true }))).toEqual({ words: "cut off", bad: false });
  });
});

describe("a call that writes a list or several files", () => {
  const call = (text: string, more: Partial<Item>): Item => ({ text, tool: "x", label: "x", added: null, removed: null, type: "tool-success", first: 5, seq: 9, ...more }) as Item;
  it("says how far the list is and what is being done, and how many files there are", () => {
    const tasks = [{ text: "Read", state: "done" as const }, { text: "Write", state: "in_progress" as const }, { text: "Send", state: "open" as const }];
    expect(callLine(call("tasks: told", { tasks }), "call")).toBe("1 of 3 tasks done, now: Write");
    expect(callLine(call("tasks: told", { tasks: tasks.slice(0, 1) }), "call")).toBe("1 of 1 task done");
    const files = [{ path: "a", added: 1, removed: 0, gone: false }, { path: "b", added: null, removed: null, gone: true }];
    const patch = call("patch 2 files: a, b\nok", { tool: "apply_patch", asked: "patch 2 files: a, b", files });
    expect([callVerb(patch, "edit"), callLine(patch, "edit"), callOutput(patch)]).toEqual(["patch ", "2 files", "ok"]);
  });
  it("is named by its file, or by its tool, with all of why, when it was refused before anything was done", () => {
    const refused = call("src/store.rs is there and was not read: 827 bytes. Read it before you replace it. It begins:\n1\tfirst", { type: "tool-error", tool: "write_file" });
    expect([callVerb(refused, "edit"), callLine(refused, "edit"), callOutput(refused)]).toEqual(["", "write_file", refused.text]);
    const file = (path: string) => ({ path, added: null, removed: null, gone: false });
    const named = call("old_string is not in the file.\nRead it again.", { type: "tool-error", tool: "edit_file", files: [file("src/store.rs")] });
    expect([callVerb(named, "edit"), callLine(named, "edit"), callOutput(named)]).toEqual(["edit ", "src/store.rs", named.text]);
    const several = call("The patch does not fit.", { type: "tool-error", tool: "apply_patch", files: [file("a.rs"), file("b.rs")] });
    expect([callVerb(several, "edit"), callLine(several, "edit")]).toEqual(["patch ", "a.rs, b.rs"]);
    const failed = call("write src/store.rs\nthe disk is full", { type: "tool-error", tool: "write_file", asked: "write src/store.rs", path: "src/store.rs" });
    expect([callVerb(failed, "edit"), callLine(failed, "edit"), callOutput(failed)]).toEqual(["write ", "src/store.rs", "the disk is full"]);
  });
  it("tells nothing of either before it is over", () => {
    const then = cutAt([call("tasks: told\nok", { tasks: [{ text: "Read", state: "done" }] })], 7)[0];
    expect([then?.type, then?.tasks, then?.files]).toEqual(["tool", undefined, undefined]);
  });
});

describe("a reason", () => {
  it("shows the names in it as code, or without their marks", () => {
    expect(ticked("`second` is no neighbour; forward to `first`")).toEqual([{ text: "second", code: true }, { text: " is no neighbour; forward to ", code: false }, { text: "first", code: true }]);
    expect(unticked("`second` is no neighbour")).toBe("second is no neighbour");
    // A single mark is part of the text.
    expect(unticked("it ended in ` and no more")).toBe("it ended in ` and no more");
  });
});

describe("a place in a flow", () => {
  it("is found by the time of a day, the last one that was", () => {
    const last = new Date(2026, 4, 28, 14, 5, 30).getTime();
    expect(momentOf("14:05", last)).toBe(new Date(2026, 4, 28, 14, 5, 0).getTime());
    expect(momentOf("14:05:31", last)).toBe(new Date(2026, 4, 27, 14, 5, 31).getTime());
    expect([momentOf("24:00", last), momentOf("9:60", last), momentOf("14", last), momentOf("find 14:05", last)]).toEqual([null, null, null, null]);
  });
});

describe("the table of keys", () => {
  it("has no key that no test presses", () => {
    const pressed = Object.values(import.meta.glob<string>("../tests/keys.test.mjs", { eager: true, query: "?raw", import: "default" })).join("");
    const missing = ACTIONS.filter(({ id }) => !new RegExp(`^  ("${id}"|${id}): \\[`, "m").test(pressed)).map(({ id }) => id);
    expect(missing).toEqual([]);
  });
  it("names each key as it is pressed, and what it does as the button does", () => {
    const listed = Object.fromEntries(lines().map(({ shown, words }) => [words, shown]));
    expect(["Search or jump to", "Fork from here", "Start a flow", "Go to the inbox", "All keys", "Feed of that role", "Back to live"].map((words) => listed[words])).toEqual([chord.mod("K"), "Shift F", "Shift N", "G I", "?", "1 to 9", "L"]);
    expect(["Allow once, approve, continue", "Deny, send back", "Deny with a reason, answer", "Choose a card or an offered answer"].map((words) => listed[words])).toEqual([`Y, in text ${chord.alt("Y")}`, `N, in text ${chord.alt("N")}`, "R", `1 to 5, in text ${chord.alt("1")} to 5`]);
    expect(listed["Stop the turn of the role whose feed is shown"]).toBe(". twice");
    expect([inText, inGraph, onStrip].flat().every(({ shown, words }) => shown !== "" && /^[A-Z]/.test(words))).toBe(true);
  });
  it("has words for every action but those that are listed with another", () => {
    expect(lines()).toHaveLength(ACTIONS.length - 4);
  });
});
