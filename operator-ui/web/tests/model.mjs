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
      response.writeHead(next.refuse, { "content-type": "application/json", ...(next.headers ?? {}) });
      response.end(JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: next.message ?? "too many requests" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    say("message_start", { message: { id: `msg_${this.heard.length}`, type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: next.cached ?? 0 } } });
    let index = 0;
    if (next.text !== undefined) {
      say("content_block_start", { index, content_block: { type: "text", text: "" } });
      say("content_block_delta", { index, delta: { type: "text_delta", text: next.text } });
      say("content_block_stop", { index });
      index += 1;
    }
    for (const [name, input] of next.calls ?? []) {
      say("content_block_start", { index, content_block: { type: "tool_use", id: `toolu_${this.heard.length}_${index}`, name, input: {} } });
      say("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } });
      say("content_block_stop", { index });
      index += 1;
    }
    say("message_delta", { delta: { stop_reason: (next.calls ?? []).length > 0 ? "tool_use" : "end_turn" }, usage: { output_tokens: 20 } });
    say("message_stop", {});
    response.end();
  }
}
/** The end of a turn that hands a file on. */
export const handsOver = (to, path) => `Done.\n\n\`\`\`handoff\ntarget_node_id: ${to}\nartifact_path: ${path}\n\`\`\`\n`;
/** The end of a turn that closes the forward work. */
export const CLOSES = "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n";
