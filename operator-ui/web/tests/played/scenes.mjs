// The workspaces in which the states of the screens come about: that of the pictures, in which time goes on from its moment; what is
// left of it when the program is killed; and a few small ones. Everything in them was done by the program, and a test that
// needs a flow in another state lets the program play it.
import { cpSync, lstatSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missing, Place } from "../program.mjs";
import { FILES } from "./around.mjs";
import { Provider } from "./provider.mjs";
import { raise } from "./stage.mjs";

/** A flow of one node, whose role asks before each call that its rules do not allow. */
const ALONE = "flows/letters.yaml";
const ROLE = "writer";
/** What a role was saying when it was cut off. */
export const HALF = "Writer done. `Journal::append` takes the lock once per batch and assigns sequence";
/** How many events of a journal an older program can read when a newer one wrote the rest. */
export const KEPT = 40;

/** A workspace with the program in it. */
class Scene {
  constructor({ place, provider, moment }, flows = {}) {
    Object.assign(this, { place, provider, moment, flows });
    this.cookies = null;
  }
  /** Where a flow is on the page, by its name or its id. */
  path(name, more = "") {
    return `/p/orchard/f/${this.flows[name] ?? name}${more}`;
  }
  state(name, query = "") {
    return this.place.ask("GET", `/api/flow/orchard/${this.flows[name] ?? name}/state${query}`);
  }
  /** The one thing that a flow asks, once it does. */
  async asked(name) {
    for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
      const [one] = Object.values((await this.state(name)).asks);
      if (one !== undefined) return one;
    }
    throw new Error(`${name} asks nothing`);
  }
  /** Runs a command to its end, and fails with what it said. */
  run(...words) {
    const { code, out, err } = this.place.run(...words);
    if (code !== 0) throw new Error(`${words.join(" ")}: ${code} ${err}`);
    return out;
  }
  /** Begins a flow under a title of its own, and waits until its role asks its model. */
  async begins(title, { file = ALONE, role = ROLE, improve = "none", allow = ["edits"], ...more } = {}) {
    const { flow } = await this.place.ask("POST", "/api/flows", { from: { file }, title, improve, allow, ...more });
    await this.provider.asked(`${title}/${role}`);
    this.flows[title] = flow;
    return flow;
  }
  /** The file of such a flow whose model has a provider of its own. */
  apart() {
    this.#apart += 1;
    const [name, file] = [`apart-${this.#apart}`, `flows/apart-${this.#apart}.yaml`];
    const config = this.place.read("config.yaml");
    const [, address] = /base-url: ("[^"]+")/.exec(config);
    this.place.put("config.yaml", config.replace("models:\n", `  ${name}: { wire: anthropic, base-url: ${address} }\nmodels:\n  ${name}: { provider: ${name}, id: ${name}, window: 200000 }\n`));
    this.place.put(file, this.place.read(ALONE).replace("{ instructions: ", `{ model: ${name}, instructions: `));
    return file;
  }
  #apart = 0;
  /** Begins such a flow, of which the role is to ask whether it may run a command. */
  async wants(title, command, more) {
    await this.begins(title, more);
    await this.asksFor(title, command);
    return this.asked(title);
  }
  /** Lets the role of a flow that began ask for a command. */
  asksFor(title, command) {
    return this.says(title, { calls: [["run_command", { command }]] });
  }
  /** Lets the model of a role answer. */
  says(title, answer, role = ROLE) {
    return this.provider.give(`${title}/${role}`, answer);
  }
  /** A flow that is played when it is first asked for, and is there from then on. */
  once(title, play) {
    this.#played.set(title, this.#played.get(title) ?? play(title));
    return this.#played.get(title);
  }
  #played = new Map();
}

/** All scenes by name; each is there when it is first asked for. `why` says why this machine has none. */
export async function scenes() {
  const stage = await raise();
  if (stage.why) return { why: stage.why, end: stage.end };
  stage.moment.run();
  const played = Object.assign(new Scene(stage, stage.flows), { asks: stage.ask, then: stage.then });
  await played.begins("Release notes");
  await played.says("Release notes", { text: HALF, rest: new Promise((done) => { played.then.more = done; }) });
  while (!played.place.log(played.flows["Release notes"]).some((one) => one.fact === "draft_added")) await new Promise((done) => setTimeout(done, 100));
  const limited = "Limited, and left";
  await played.begins(limited, { file: played.apart() });
  await played.says(limited, { refuse: 429, headers: { "retry-after": "40" }, message: "this key may send 40 requests a minute" });
  while ((await played.state(limited)).roles.writer.retry_at === null) await new Promise((done) => setTimeout(done, 50));
  // A copy of the files, while they are written, is what a power cut leaves.
  const left = leave(played);
  played.run("cancel", played.flows[limited]);
  const made = new Map([["played", Promise.resolve(played)]]);
  const makes = { left: async () => (await left.place.serve(), left), bare: () => small(played, "bare", 0), many: () => small(played, "many", 400) };
  const of = (name) => {
    if (!made.has(name)) made.set(name, makes[name]());
    return made.get(name);
  };
  const end = async () => {
    for (const [name, scene] of made) if (name !== "played" && name !== "left") await (await scene).place.end();
    await left.place.end();
    await stage.end();
  };
  return { of, end };
}

/** A workspace in which nothing was played yet, in this machine's time. */
export async function workshop(files = {}, more = () => "") {
  const unbuilt = missing("what the real program asks");
  if (unbuilt !== false) return { why: unbuilt, end: () => {} };
  const provider = await new Provider().listen();
  const place = new Place({ [ALONE]: FILES[ALONE], ...files }, { name: "orchard", environment: {} });
  place.put("config.yaml", provider.config + more(place.folder));
  place.environment.A_SOCIETY_CONFIG = join(place.folder, "config.yaml");
  await place.serve();
  const scene = new Scene({ place, provider, moment: { now: 0, began: 0 } });
  const end = async () => {
    await place.end();
    provider.close();
  };
  return { of: async () => scene, end };
}

/** A workspace as it is when the program that worked in it is gone. A newer program went on with two of its flows. */
function leave(played) {
  const place = new Place({}, { name: "orchard", environment: { ...played.place.environment } });
  cpSync(played.place.folder, place.folder, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
  rmSync(join(place.folder, ".a-society/server.json"));
  place.environment.A_SOCIETY_CONFIG = join(place.folder, "config.yaml");
  for (const [name, kept] of [["ranking", KEPT], ["archive", 0]]) newer(join(place.folder, place.state(played.flows[name]), "journal"), kept);
  return new Scene({ ...played, place }, { ...played.flows });
}

const TABLE = Array.from({ length: 256 }, (_, n) => { let c = n; for (let k = 0; k < 8; k += 1) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1; return c >>> 0; });
/** The checksum that ends a record. */
const crc32c = (bytes) => { let c = ~0; for (const byte of bytes) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8); return (~c >>> 0).toString(16).padStart(8, "0"); };
/** Lets a newer version have written everything of a journal after so many records. */
export function newer(folder, kept) {
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl")));
  let prev = null;
  const lines = readFileSync(file, "utf8").trimEnd().split("\n").map((line, n) => {
    if (n < kept) return line;
    const body = line.slice(0, line.lastIndexOf(',"crc"')).replace('{"v":1', '{"v":9').replace(/"prev":"[0-9a-f]{8}"/, (old) => (prev === null ? old : `"prev":"${prev}"`));
    prev = crc32c(Buffer.from(body));
    return `${body},"crc":"${prev}"}`;
  });
  writeFileSync(file, `${lines.join("\n")}\n`);
}

/** A workspace with one flow: it works, or asks a person at so many nodes. */
async function small({ provider, moment }, title, asks) {
  const nodes = Array.from({ length: asks }, (_, n) => `n${n}`);
  const flow = `workflow:\n  name: ${title}\n  nodes:\n    - { id: begin, role: writer, work: [Begin.] }\n${nodes.map((id) => `    - { id: ${id}, role: p${id}, work: [Say what you think of it.] }\n`).join("")}${asks === 0 ? "" : "    - { id: close, role: writer, work: [Close it.] }\n"}  edges:${asks === 0 ? " []" : nodes.map((id) => `\n    - { from: begin, to: ${id} }\n    - { from: ${id}, to: close }`).join("")}\nroles:\n  writer: { instructions: You begin. }\n${nodes.map((id) => `  p${id}: { executor: human }\n`).join("")}`;
  const place = new Place({ "flow.yaml": flow, "config.yaml": provider.config }, { name: "orchard", environment: { LD_PRELOAD: moment.environment.LD_PRELOAD, PLAYED_MOMENT: moment.environment.PLAYED_MOMENT } });
  place.environment.A_SOCIETY_CONFIG = join(place.folder, "config.yaml");
  const scene = new Scene({ place, provider, moment });
  await place.serve();
  await scene.begins(title, { file: "flow.yaml" });
  if (asks === 0) return scene;
  await scene.says(title, { calls: [["write_file", { path: "record/begin.md", content: "# What it is about\n" }]] });
  await scene.says(title, { calls: [["handoff", { targets: nodes.map((to) => ({ target_node_id: to, artifact_path: "record/begin.md" })) }]] });
  while (Object.keys((await scene.state(title)).asks).length < asks) await new Promise((done) => setTimeout(done, 100));
  return scene;
}
