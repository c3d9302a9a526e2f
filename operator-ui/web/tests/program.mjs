// The real program in a workspace of its own, for the tests that use it.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const root = new URL("../../../", import.meta.url).pathname;
export const binary = process.env.A_SOCIETY_BINARY ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/a-society");
/** What a test says that cannot run because the program is not built; false when it is. */
export const missing = (what) => (existsSync(binary) ? false : `NOT MEASURED: ${what}, because ${binary} is not built`);
/** The first number in a slice, the second when everything is wanted. */
export const either = (slice, whole) => (process.env.A_SOCIETY_TEST_FULL === "1" ? whole : slice);

/** A workspace that vanishes, and the server in it. Each start of the server is reached at the same port. */
export class Place {
  /** With a `name` the workspace is called so on every run; `environment` is what its commands see besides that of the tests. */
  constructor(files = {}, { name = null, environment = {} } = {}) {
    this.around = mkdtempSync(join(tmpdir(), "a-society-page-"));
    this.folder = name === null ? this.around : join(this.around, name);
    this.environment = environment;
    mkdirSync(join(this.folder, ".a-society"), { recursive: true });
    for (const [path, text] of Object.entries(files)) this.put(path, text);
    this.port = 0;
    this.server = null;
  }
  put(path, text) {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  read(path) {
    return readFileSync(join(this.folder, path), "utf8");
  }
  /** A folder of the repository, under another name. */
  copy(from, to) {
    cpSync(join(root, from), join(this.folder, to), { recursive: true });
  }
  /** Runs a command to its end. */
  run(...words) {
    const ran = spawnSync(binary, words, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, ...this.environment } });
    return { code: ran.status, out: ran.stdout, err: ran.stderr };
  }
  /** Begins a command that goes on beside the test. */
  begin(words, environment = {}) {
    return spawn(binary, words, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...this.environment, ...environment } });
  }
  /** Starts the server, and gives the address that it prints, token and all. */
  async serve(...more) {
    this.server = this.begin(["serve", "--port", String(this.port), ...more]);
    this.printed = await address(this.server);
    const { origin, port } = new URL(this.printed);
    [this.origin, this.port, this.taken] = [origin, Number(port), null];
    this.token = JSON.parse(this.read(".a-society/server.json")).token;
    return this.printed;
  }
  /** An address for the next browser: each is good for one, and the first is the one that was printed. */
  async link() {
    if (this.taken === null) return (this.taken = this.printed);
    for (let tries = 0; tries < 200; tries += 1) {
      const said = this.run("serve", "--link").out.trim();
      if (said !== "" && said !== this.taken) return (this.taken = said);
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error("the server gives no new address");
  }
  /** Ends the server as a power cut would. */
  async kill() {
    await killed(this.server);
    this.server = null;
  }
  /** Asks the server, as a program does. */
  async ask(method, path, body) {
    const said = body === undefined ? "" : JSON.stringify(body);
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json", "content-length": Buffer.byteLength(said) };
    const { status, text } = await new Promise((done, failed) => {
      // Each on a line of its own: one that is kept is closed by the server while a command holds up this process.
      const asked = request(this.origin + path, { method, headers, agent: false }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (more) => { text += more; }).on("end", () => done({ status: answer.statusCode, text })).on("error", failed);
      });
      asked.on("error", failed).end(said);
    });
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  }
  /** The flow's folder within the workspace. */
  state(flow) {
    const projects = readdirSync(join(this.folder, ".a-society/state"));
    return projects.map((project) => join(".a-society/state", project, flow)).find((folder) => existsSync(join(this.folder, folder)));
  }
  /** The facts of a flow's journal. */
  log(flow) {
    return this.run("log", flow, "--json").out.trim().split("\n").map((line) => JSON.parse(line));
  }
  /** A view of a role, folded anew from the journal: `feed` or `transcript`. */
  view(flow, role, name) {
    const rebuilt = this.run("rebuild", flow);
    if (rebuilt.code !== 0) throw new Error(rebuilt.err);
    return JSON.parse(this.read(join(this.state(flow), "roles", role, `${name}.json`)));
  }
  async end() {
    if (this.server !== null) await killed(this.server);
    rmSync(this.around, { recursive: true, force: true });
  }
}

/** Kills a process, and waits until it is gone. */
export async function killed(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await gone;
}

/** The address that a program prints, on whatever stream it does. */
export function address(child) {
  return new Promise((found, failed) => {
    let said = "";
    const hear = (bytes) => {
      said += bytes;
      const line = /http:\/\/\S+#token=\S+/.exec(said);
      if (line !== null) found(line[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => failed(new Error(`it ended with ${code}: ${said}`)));
  });
}
