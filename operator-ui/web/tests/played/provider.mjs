// The models of a stage: each request waits until the stage answers it, so that flows go on step by step. Who asks is read
// from the request itself: "You are `backend` in the flow "Ledger journal"".
import { createServer } from "node:http";
import { refuse, speak } from "../model.mjs";
import { inRecord } from "./older.mjs";

const WHO = /You (?:are|work in the role) \\?["`]([^"`\\]+)\\?["`][^.]{0,80}? in the flow \\?["`]([^"`\\]+)/;
/** The sender of the request for a summary, which names neither role nor flow. */
export const SUMMARY = "a summary";
/** How often a provider says that it is still there. */
const BEAT_MS = 5_000;
/** As long as a busy machine may take. */
const PATIENCE_MS = 60_000;

export class Provider {
  #server;
  #waiting = new Map();
  #wanted = [];
  #said = 0;
  #streams = new Set();
  #beat = null;
  constructor() {
    this.#server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => this.#asks(Buffer.concat(pieces).toString(), response));
    });
  }
  async listen() {
    await new Promise((done) => this.#server.listen(0, "127.0.0.1", done));
    return this;
  }
  /** From now on no request is answered, and none times out: all get a provider's keep-alive events. */
  hold() {
    for (const { response } of [...this.#waiting.values()].flat()) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      this.#streams.add(response);
    }
    this.#beat = setInterval(() => {
      for (const response of this.#streams) response.write('event: ping\ndata: {"type":"ping"}\n\n');
    }, BEAT_MS);
  }
  close() {
    clearInterval(this.#beat);
    this.#server.closeAllConnections();
    this.#server.close();
  }
  get config() {
    return `providers:\n  p: { wire: anthropic, base-url: "http://127.0.0.1:${this.#server.address().port}" }\nmodels:
  sonnet: { provider: p, id: sonnet, window: 200000, price: { input: 3.00, output: 15.00, cache-read: 0.30 } }
  small: { provider: p, id: small, window: 32000, price: { input: 0.25, output: 1.25, cache-read: 0.03 } }
model: sonnet
`;
  }
  #asks(body, response) {
    const [, role, flow] = WHO.exec(body) ?? [];
    const who = role === undefined ? SUMMARY : `${flow}/${role}`;
    this.#waiting.set(who, [...(this.#waiting.get(who) ?? []), { body, response }]);
    for (const wanted of this.#wanted.splice(0)) wanted();
  }
  /** Waits until a role of a flow asks its model; the request stays open. */
  async asked(who) {
    const end = Date.now() + PATIENCE_MS;
    while ((this.#waiting.get(who) ?? []).length === 0) {
      if (Date.now() > end) throw new Error(`${who} asks nothing; there ask ${[...this.#waiting.keys()].join(", ")}`);
      await new Promise((done) => { this.#wanted.push(done); setTimeout(done, 1_000); });
    }
    return this.#waiting.get(who)[0];
  }
  /** Answers the request that a role of a flow waits with. */
  async give(who, answer) {
    const { body, response } = await this.asked(who);
    const left = this.#waiting.get(who).slice(1);
    if (left.length === 0) this.#waiting.delete(who);
    else this.#waiting.set(who, left);
    this.#said += 1;
    const said = inRecord(answer, body);
    if (answer.refuse !== undefined) refuse(response, answer);
    // What pauses in the middle is not waited for.
    else if (answer.rest !== undefined) {
      this.#streams.add(response);
      void speak(response, this.#said, said).finally(() => this.#streams.delete(response));
    }
    else await speak(response, this.#said, said);
  }
}
