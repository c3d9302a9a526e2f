// A model on loopback for the real program: it says what a test wants, one answer after another, and may refuse for a time.
import { createServer } from "node:http";

/** One answer: text, calls of tools, or a refusal with its headers. `hold` is waited for before it is given. */
export class Model {
  heard = [];
  answers = [];
  #server;
  constructor(...answers) {
    this.answers = answers;
    this.#server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => void this.#answer(Buffer.concat(pieces).toString(), response, request.headers));
    });
  }
  async listen() {
    await new Promise((done) => this.#server.listen(0, "127.0.0.1", done));
    return this;
  }
  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
  get address() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }
  /** What the configuration says of it. */
  get config() {
    return `providers:\n  p: { wire: anthropic, base-url: "${this.address}" }\nmodels:\n  m: { provider: p, id: m, window: 100000, price: { input: 3.00, output: 15.00, cache-read: 0.30 } }\nmodel: m\n`;
  }
  async #answer(body, response, headers) {
    this.heard.push({ body, at: Date.now(), headers });
    const next = typeof this.answers === "function" ? this.answers(body, this.heard.length) : (this.answers.shift() ?? { text: "Nothing more." });
    await next.hold;
    if (next.refuse !== undefined) {
      refuse(response, next);
      return;
    }
    await speak(response, this.heard.length, next);
  }
}
/** Says no to a request, as a provider does. */
export function refuse(response, { refuse: status, headers = {}, message = "too many requests", kind = "rate_limit_error" }) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ type: "error", error: { type: kind, message } }));
}
/** Answers a request: with `text` and `calls`; with `used` as the tokens of it. The stream pauses behind the text
 * until `rest` says how it goes on: with more text, or with "cut" for a line that breaks. */
export async function speak(response, n, { text, calls = [], cached = 0, used = {}, rest }) {
  const { input = 100, output = 20 } = used;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const say = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  say("message_start", { message: { id: `msg_${n}`, type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: input, output_tokens: 1, cache_read_input_tokens: cached } } });
  let index = 0;
  if (text !== undefined) {
    say("content_block_start", { index, content_block: { type: "text", text: "" } });
    say("content_block_delta", { index, delta: { type: "text_delta", text } });
    const more = await rest;
    if (more === "cut") return void response.destroy();
    if (more !== undefined) say("content_block_delta", { index, delta: { type: "text_delta", text: more } });
    say("content_block_stop", { index });
    index += 1;
  }
  for (const [name, input] of calls) {
    say("content_block_start", { index, content_block: { type: "tool_use", id: `toolu_${n}_${index}`, name, input: {} } });
    say("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } });
    say("content_block_stop", { index });
    index += 1;
  }
  say("message_delta", { delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" }, usage: { output_tokens: output } });
  say("message_stop", {});
  response.end();
}
/** The end of a turn that hands a file on. */
export const handsOver = (to, path) => `Done.\n\n\`\`\`handoff\ntarget_node_id: ${to}\nartifact_path: ${path}\n\`\`\`\n`;
/** The end of a turn that closes the forward work. */
export const CLOSES = "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n";
