// Every screen, in both themes and on a phone: what a checker of accessibility finds, and what the browser complains of.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsIn, LOOKS } from "./checker.mjs";
import { stage } from "./stage.mjs";
import { world } from "./world.mjs";

const at = stage();
const ROUTES = {
  inbox: "/inbox", "an empty inbox": "/inbox", question: "/inbox/archive/text/analyst", "choice of improvement": "/inbox/wizard/improvement/flow",
  graph: "/p/orchard/f/ledger", outline: "/p/orchard/f/ledger/outline", files: "/p/orchard/f/ledger/files", events: "/p/orchard/f/ledger/events",
  feed: "/p/orchard/f/ledger/r/backend", past: "/p/orchard/f/ledger?at=3100", transcript: "/p/orchard/f/ledger/r/backend/transcript", flows: "/flows", findings: "/findings", roles: "/roles", look: "/settings/look", keys: "/settings/keys", nowhere: "/nowhere",
};
/** A slice looks at each screen once: another look for each, and other ones with the next commit. */
const looks = (n) => (process.env.A_SOCIETY_TEST_BROWSER_SLICE === "1" ? [LOOKS[(n + Number(process.env.A_SOCIETY_TEST_SEED ?? 0)) % LOOKS.length]] : LOOKS);

for (const [n, [name, path]] of Object.entries(ROUTES).entries()) {
  test(`the screen "${name}" has no fault that a checker finds, and the browser complains of nothing`, async () => {
    const data = world();
    if (name === "an empty inbox") data.inbox.asks = {};
    const { page, complaints } = await at(path, { data });
    assert.deepEqual(await faultsIn(page, looks(n)), []);
    assert.deepEqual(complaints.filter((text) => !/\b404\b/.test(text)), []);
  });
}
