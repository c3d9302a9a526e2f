// The fixed stage of `told.mjs` behind a door: canned answers, and a count of what the page asks for, so that a test can
// say "no request". A test that changes the page's data uses the stand-in with a world of its own.
import { CSP, Door, PROTO } from "../door.mjs";

export { CSP };

/** Starts a stage. `stage` gives `inbox`, `flows` by "project/flow", and `answer(path, query, method, body)`. */
export async function serve(stage) {
  const asked = [];
  const said = [];
  const door = new Door({
    api(url, request, response) {
      let body = "";
      request.on("data", (d) => (body += d));
      request.on("end", () => {
        asked.push(`${request.method} ${url.pathname}${url.search}`);
        const told = stage.answer(url.pathname, url.searchParams, request.method, body === "" ? null : JSON.parse(body));
        const fault = { code: "not-found", what: "There is nothing at this address.", why: url.pathname, try: "" };
        response.writeHead(told === undefined ? 404 : 200, { "content-type": typeof told === "string" ? "text/plain; charset=utf-8" : "application/json" });
        response.end(typeof told === "string" ? told : JSON.stringify(told ?? fault));
      });
    },
    joins: (one) => one.say({ t: "hello", proto: PROTO, build: "0.1.0", epoch: "stage", workspace: stage.workspace ?? "orchard", now: new Date().toISOString(), mode: "live" }),
    hears(one, up) {
      said.push(up);
      if (up.t === "do") one.say({ t: "ack", cmd: up.cmd, ok: true, seq: 1, facts: 1, ...(stage.done?.(up) ?? {}) });
      if (up.t !== "sub") return;
      const { state, seq } = stage.topic(up.topic);
      one.subs.set(up.id, { topic: up.topic, seq });
      one.say({ t: "snap", id: up.id, seq, epoch: "stage", state });
      one.say({ t: "caught_up", id: up.id, seq, head: seq });
    },
    build: () => "0.1.0",
  });
  const url = await door.listen();
  return {
    url, asked, said,
    /** Tells every watcher of a topic of a change. */
    put(match, put) {
      for (const w of door.sockets) for (const [id, sub] of w.subs) if (match(sub.topic)) {
        w.say({ t: "ev", id, from: sub.seq, to: sub.seq + 1, at: new Date().toISOString(), put });
        sub.seq += 1;
      }
    },
    close: () => door.close(),
  };
}
