// What every stand-in is behind: the page's files as the program serves them, and sockets with a message a frame.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const DIST = new URL("../dist/", import.meta.url).pathname;
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json", ".webmanifest": "application/json" };
/** The program's own policy; a test of the program compares them. */
export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";
/** The version of the protocol that the page speaks. */
export const PROTO = Number(/export const PROTO = (\d+);/.exec(readFileSync(new URL("../src/wire.ts", import.meta.url), "utf8"))[1]);
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * A server of the page. `api(url, request, response)` answers paths below `/api`; `enters()` says whether a socket
 * may come in, `joins(one)` greets it, and `hears(one, message)` takes its message. `build()` is what the page came with.
 */
export class Door {
  constructor({ api, joins, hears, enters = () => true, build = () => "test" }) {
    Object.assign(this, { api, joins, hears, enters, build });
    /** Those who are connected: what each follows by the number it gave, and how to send to it. */
    this.sockets = new Set();
    this.http = createServer((request, response) => this.#serve(request, response));
    this.http.on("upgrade", (request, socket) => this.#upgrade(request, socket));
  }
  async listen(port = 0) {
    await new Promise((done) => this.http.listen(port, "127.0.0.1", done));
    return `http://127.0.0.1:${this.http.address().port}`;
  }
  /** Ends all sockets. */
  drop() {
    for (const one of this.sockets) one.socket.destroy();
    this.sockets.clear();
  }
  async close() {
    this.drop();
    this.http.closeAllConnections();
    await new Promise((done) => this.http.close(done));
  }

  #serve(request, response) {
    const url = new URL(request.url, "http://x");
    if (url.pathname.startsWith("/api/")) return this.api(url, request, response);
    const path = normalize(url.pathname).replace(/^\/+/, "");
    // The files of a flow have places in the page under their own names.
    const place = extname(path) === "" || /^(p|inbox)\//.test(path);
    const file = join(DIST, place ? "index.html" : path);
    try {
      const bytes = readFileSync(file);
      const came = extname(file) === ".html" ? { "server-timing": `build;desc="${this.build()}"` } : {};
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": CSP, "cache-control": "no-cache", "x-content-type-options": "nosniff", ...came });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  }

  #upgrade(request, socket) {
    if (!this.enters() || request.url !== "/api/socket") return socket.destroy();
    const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${GUID}`).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    const one = { socket, subs: new Map(), say: (message) => socket.writable && socket.write(frame(JSON.stringify(message))) };
    this.sockets.add(one);
    socket.on("error", () => this.sockets.delete(one));
    socket.on("close", () => this.sockets.delete(one));
    let rest = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (;;) {
        const read = unframe(rest);
        if (read === null) return;
        rest = rest.subarray(read.used);
        if (read.op === 8) return socket.end();
        if (read.op !== 1) continue;
        const up = JSON.parse(read.text);
        if (up.t === "ping") one.say({ t: "pong", n: up.n });
        else if (up.t === "unsub") one.subs.delete(up.id);
        else this.hears(one, up);
      }
    });
    this.joins(one);
  }
}

function frame(text) {
  const body = Buffer.from(text);
  const head = body.length < 126 ? Buffer.from([0x81, body.length]) : body.length < 65_536 ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255]) : Buffer.alloc(10);
  if (body.length >= 65_536) {
    head[0] = 0x81;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(body.length), 2);
  }
  return Buffer.concat([head, body]);
}
function unframe(bytes) {
  if (bytes.length < 6) return null;
  let size = bytes[1] & 127;
  let at = 2;
  if (size === 126) { size = bytes.readUInt16BE(2); at = 4; } else if (size === 127) { if (bytes.length < 14) return null; size = Number(bytes.readBigUInt64BE(2)); at = 10; }
  if (bytes.length < at + 4 + size) return null;
  const mask = bytes.subarray(at, at + 4);
  const body = Buffer.from(bytes.subarray(at + 4, at + 4 + size));
  for (let n = 0; n < body.length; n += 1) body[n] ^= mask[n % 4];
  return { op: bytes[0] & 15, text: body.toString(), used: at + 4 + size };
}
