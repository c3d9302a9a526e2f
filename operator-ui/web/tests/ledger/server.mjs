// A stand-in for `a-society serve` with a fixed stage: the built page under its real headers, a socket, canned answers.
// It counts what the page asks for, so that a test can say "no request".
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";

const DIST = new URL("../../dist/", import.meta.url).pathname;
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; require-trusted-types-for 'script'";
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

function frame(text) {
  const body = Buffer.from(text);
  const head = body.length < 126 ? Buffer.from([0x81, body.length]) : body.length < 65536 ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255]) : Buffer.concat([Buffer.from([0x81, 127, 0, 0, 0, 0]), Buffer.from([body.length >>> 24, (body.length >> 16) & 255, (body.length >> 8) & 255, body.length & 255])]);
  return Buffer.concat([head, body]);
}

function reader(onText, onEnd) {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      if (held.length < 2) return;
      let length = held[1] & 127;
      let at = 2;
      if (length === 126) { if (held.length < 4) return; length = held.readUInt16BE(2); at = 4; } else if (length === 127) { if (held.length < 10) return; length = Number(held.readBigUInt64BE(2)); at = 10; }
      if (held.length < at + 4 + length) return;
      const mask = held.subarray(at, at + 4);
      const body = Buffer.from(held.subarray(at + 4, at + 4 + length).map((b, i) => b ^ mask[i % 4]));
      const op = held[0] & 15;
      held = held.subarray(at + 4 + length);
      if (op === 8) return onEnd();
      if (op === 1) onText(body.toString());
    }
  };
}

/** Starts a stage. `stage` gives `inbox`, `flows` by "project/flow", and `answer(path, query, method, body)`. */
export async function serve(stage) {
  const asked = [];
  const said = [];
  const watchers = new Set();
  /** Upgraded sockets, which the server itself does not close: a test that failed leaves its page open. */
  const sockets = new Set();
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://stage");
    if (url.pathname.startsWith("/api/")) {
      let body = "";
      request.on("data", (d) => (body += d));
      request.on("end", () => {
        asked.push(`${request.method} ${url.pathname}${url.search}`);
        const told = stage.answer(url.pathname, url.searchParams, request.method, body === "" ? null : JSON.parse(body));
        if (told === undefined) {
          response.writeHead(404, { "content-type": "application/json" });
          response.end(JSON.stringify({ code: "not-found", what: "There is nothing at this address.", why: url.pathname, try: "" }));
        } else if (typeof told === "string") {
          response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
          response.end(told);
        } else {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify(told));
        }
      });
      return;
    }
    const path = normalize(url.pathname).replace(/^\/+/, "");
    const file = join(DIST, path === "" || !existsSync(join(DIST, path)) || extname(path) === "" ? "index.html" : path);
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": CSP, "cache-control": "no-cache" });
    response.end(readFileSync(file));
  });
  server.on("upgrade", (request, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${createHash("sha1").update(request.headers["sec-websocket-key"] + GUID).digest("base64")}\r\n\r\n`);
    const send = (message) => { if (!socket.destroyed) socket.write(frame(JSON.stringify(message))); };
    const subs = new Map();
    const me = { send, subs };
    watchers.add(me);
    sockets.add(socket);
    socket.on("close", () => { watchers.delete(me); sockets.delete(socket); });
    socket.on("error", () => watchers.delete(me));
    send({ t: "hello", proto: 1, build: "0.1.0", epoch: "stage", workspace: stage.workspace ?? "orchard", now: new Date().toISOString(), mode: "live" });
    socket.on("data", reader((text) => {
      const up = JSON.parse(text);
      if (up.t !== "ping") said.push(up);
      if (up.t === "ping") send({ t: "pong", n: up.n });
      if (up.t === "unsub") subs.delete(up.id);
      if (up.t === "do") send({ t: "ack", cmd: up.cmd, ok: true, seq: 1, facts: 1, ...(stage.done?.(up) ?? {}) });
      if (up.t !== "sub") return;
      const { state, seq } = stage.topic(up.topic);
      subs.set(up.id, { topic: up.topic, seq });
      send({ t: "snap", id: up.id, seq, epoch: "stage", state });
      send({ t: "caught_up", id: up.id, seq, head: seq });
    }, () => socket.end()));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`, asked, said,
    /** Tells every watcher of a topic of a change. */
    put(match, put) {
      for (const w of watchers) for (const [id, sub] of w.subs) if (match(sub.topic)) {
        w.send({ t: "ev", id, from: sub.seq, to: sub.seq + 1, at: new Date().toISOString(), put });
        sub.seq += 1;
      }
    },
    close: () => new Promise((done) => { for (const held of sockets) held.destroy(); server.closeAllConnections(); server.close(done); }),
  };
}
