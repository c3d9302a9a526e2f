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
