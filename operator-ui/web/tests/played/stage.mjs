// The stage of the pictures and of most states: one workspace in which the real program has played every flow against
// models on loopback, up to a moment at which each waits for something else. All texts on a screen come from the program.
// They are the same in each run because the stage sets its clock (`moment.mjs`) and because each answer waits for its turn.
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, rmdirSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Place, missing, root } from "../program.mjs";
import { AROUND, FILES as OTHERS, letters } from "./around.mjs";
import { FILES, play } from "./ledger.mjs";
import { Moment } from "./moment.mjs";
import { begins, older, workspace } from "./older.mjs";
import { Provider } from "./provider.mjs";

export const DAY = "2026-03-03";
/** The moment at which the stage is frozen. */
export const NOW = new Date(`${DAY}T14:11:52Z`);
const WALLS = "Project and record folder only";
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** A ready stage, or `{ why }` on a machine where it cannot be what it is elsewhere. */
export async function raise() {
  const unbuilt = missing("what the real program shows");
  if (unbuilt !== false) return { why: unbuilt, end: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "a-society-moment-"));
  const moment = new Moment(folder);
  const provider = await new Provider().listen();
  const place = new Place({ ...FILES, ...OTHERS, "config.yaml": provider.config }, { name: "orchard", environment: moment.environment });
  place.environment.A_SOCIETY_CONFIG = join(place.folder, "config.yaml");
  chmodSync(join(place.folder, "check"), 0o755);
  const end = async () => {
    await place.end();
    provider.close();
    moment.close();
    rmSync(folder, { recursive: true, force: true });
  };
  if (moment.why !== null) return { why: `NOT MEASURED: what the real program shows at a moment, because ${moment.why}`, end };
  try {
    return { ...(await played({ place, provider, moment })), place, provider, moment, end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function played({ place, provider, moment }) {
  const at = (time) => moment.set(`${DAY}T${time}Z`);
  const flows = {};
  at("08:00:00");
  flows.damaged = damaged(place);
  await place.serve();
  const rests = async (flow) => {
    for (let last = -1; ;) {
      const { flow: { seq } } = await place.ask("GET", `/api/flow/orchard/${flow}/state`);
      if (seq === last) return;
      last = seq;
      await sleep(120);
    }
  };
  for (const [name, walk] of Object.entries(AROUND)) flows[name] = await walk(hands({ place, provider, at, rests }));
  at("13:28:00");
  flows.fork = await fork(place, flows.ranking);
  const ledger = await play({ place, provider, moment, rests, at });
  flows.ledger = ledger.flow;
  flows.letters = await letters(hands({ place, provider, at, rests }));
  moment.set(NOW.getTime());
  provider.hold();
  // By flow what it asks, as the inbox has it in its addresses.
  const asks = {};
  for (const [name, flow] of Object.entries(flows)) if (name !== "damaged") [asks[name]] = Object.values((await place.ask("GET", `/api/flow/orchard/${flow}/state`)).asks);
  const sandbox = asks.ledger.kind.facts.find((fact) => fact.label === "Sandbox")?.value;
  const why = sandbox === WALLS || older ? null : `NOT MEASURED: what the real program shows, because commands run here with other walls: ${sandbox}`;
  const path = (name) => `/p/orchard/f/${flows[name]}`;
  const ask = (name) => `/inbox/${asks[name].id}`;
  return { flows, ask, then: ledger.then, path, why };
}

/** What a flow of `around.mjs` is played with. */
function hands({ place, provider, at, rests }) {
  let title;
  const who = (role) => `${title}/${role}`;
  const gives = async (time, role, answer) => {
    // What came before is recorded once the next is asked; the time of that is over then.
    await provider.asked(who(role));
    at(time);
    await provider.give(who(role), answer);
  };
  return {
    rests,
    begin: async (time, name, more = {}) => {
      at(time);
      title = /name: (.*)/.exec(OTHERS[`flows/${name}.yaml`])[1];
      // A file without a project says how its flow ends; a project that says nothing leaves it to the operator.
      const docs = join(place.folder, "a-docs");
      if (more.improve === undefined) mkdirSync(docs);
      const { flow } = await begins(place, { from: { file: `flows/${name}.yaml` }, allow: ["edits"], ...more });
      if (more.improve === undefined) rmdirSync(docs);
      return flow;
    },
    says: (time, role, answer, { input = 4_000, cached = 0, output = 300 } = {}) => gives(time, role, { ...answer, cached, used: { input, output } }),
    fails: gives,
  };
}

/** A flow that begins where another handed its first work on, without a driver yet. */
async function fork(place, of) {
  const { seq } = place.log(of).find((fact) => fact.fact === "handoff_applied");
  const forked = place.run("fork", of, "--at", String(seq), "--name", "Search ranking, once more", "--json");
  if (forked.code !== 0) throw new Error(forked.err);
  return JSON.parse(place.run("ls", "--all", "--json").out).flows.find((one) => one.title === "Search ranking, once more").flow;
}

/** A flow of which a disk spoiled four bytes. */
function damaged(place) {
  place.run("run", join(root, "examples/interrupted/flow.yaml"), "--title", "Weekly report", ...workspace);
  const [{ flow }] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
  const folder = join(place.folder, place.state(flow), "journal");
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl")));
  const lines = readFileSync(file, "utf8").split("\n");
  const wound = openSync(file, "r+");
  writeSync(wound, "XXXX", lines.slice(0, 8).join("\n").length + 60);
  closeSync(wound);
  return flow;
}
