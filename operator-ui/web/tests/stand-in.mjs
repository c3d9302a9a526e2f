// A server that says exactly what a test wants, when it wants it: the page's files with the real security headers, the
// socket, and the few requests the screens make. It keeps no journal; the tests of the binary have the real one.
import { Door, PROTO } from "./door.mjs";

const keyOf = (topic) => (topic.topic === "inbox" ? "inbox" : topic.topic === "flow" ? `flow ${topic.flow.project}/${topic.flow.flow}` : `feed ${topic.flow.project}/${topic.flow.flow} ${topic.role}`);

export class StandIn {
  constructor(world) {
    this.world = world;
    this.epoch = "e1";
    this.proto = PROTO;
    this.build = "test";
    this.seqs = new Map();
    this.commands = [];
    this.answers = true;
    this.refusing = false;
    this.unknown = false;
    this.first = false;
    this.whole = false;
    this.held = null;
    /** Topics that are asked for and not answered yet, and requests by a part of their address; `speak` answers them. */
    this.mute = [];
    this.unspoken = [];
    this.refused = [];
    this.bodies = new Map();
    this.csp = [];
    this.door = new Door({
      api: (url, request, response) => this.#api(url, request, (value, status = 200) => { response.writeHead(status, { "content-type": "application/json" }); response.end(JSON.stringify(value)); }, response),
      enters: () => !this.refusing && !this.unknown,
      joins: (one) => one.say({ t: "hello", proto: this.proto, build: this.build, epoch: this.epoch, workspace: "orchard", now: new Date().toISOString(), mode: "live" }),
      hears: (one, up) => this.#heard(one, up),
      build: () => this.build,
    });
  }
  get sockets() {
    return this.door.sockets;
  }
  async listen(port = 0) {
    this.address = await this.door.listen(port);
    return this;
  }
  close() {
    return this.door.close();
  }
  /** Ends all sockets; `refuse` keeps new ones away. */
  drop(refuse = false) {
    this.refusing = refuse;
    this.door.drop();
  }
  seq(key) {
    return this.seqs.get(key) ?? this.stateOf(key)?.seq ?? 1;
  }
  stateOf(key) {
    if (key === "inbox") return { seq: 1, state: this.world.inbox };
    const flow = this.world.flows[key.split(" ")[1]];
    if (flow === undefined) return null;
    if (key.startsWith("flow ")) return { seq: flow.state.flow.seq, state: flow.state };
    const items = flow.feeds[key.split(" ")[2]] ?? [];
    return { seq: items.at(-1)?.seq ?? 1, feed: items };
  }
  /** Changes a topic and notifies its subscribers. Parts are put by key, items are added or replaced. */
  put(key, put, { hole = 0 } = {}) {
    const kept = this.stateOf(key);
    const from = this.seq(key);
    if (Array.isArray(put)) {
      const list = this.world.flows[key.split(" ")[1]].feeds;
      const role = key.split(" ")[2];
      list[role] ??= [];
      for (const item of put) {
        const at = list[role].findIndex((one) => one.id === item.id);
        if (at >= 0) list[role][at] = item;
        else list[role].push(item);
      }
    } else {
      for (const [name, value] of Object.entries(put)) {
        const [family, ...rest] = name.split("/");
        const map = { flow: key === "inbox" ? kept.state.flows : null, ask: kept.state.asks, node: kept.state.nodes, edge: kept.state.edges, role: kept.state.roles }[family];
        if (map === null || map === undefined) kept.state[family] = value;
        else if (value === null) delete map[rest.join("/")];
        else map[rest.join("/")] = value;
      }
    }
    const to = from + 1 + hole;
    this.seqs.set(key, to);
    for (const one of this.sockets) for (const [id, topic] of one.subs) if (topic === key) one.say({ t: "ev", id, from: from + hole, to, at: new Date().toISOString(), put });
  }
  delta(key, item, offset, text) {
    for (const one of this.sockets) for (const [id, topic] of one.subs) if (topic === key) one.say({ t: "delta", id, item, offset, text });
  }

  /** Answers everything that was kept waiting. */
  speak() {
    this.mute = [];
    for (const answer of this.unspoken.splice(0)) answer();
  }
  #api(url, request, json, response) {
    if (this.mute.some((part) => url.pathname.includes(part))) return void this.unspoken.push(() => this.#api(url, request, json, response));
    const parts = url.pathname.split("/").filter(Boolean).map(decodeURIComponent);
    if (parts[1] === "session" && this.takes !== undefined) {
      let said = "";
      request.on("data", (bytes) => { said += bytes; });
      return void request.on("end", () => {
        const good = JSON.parse(said).token === this.takes;
        if (good) this.unknown = false;
        json(good ? {} : { code: "no-token", what: "This token is not good.", why: "It was used.", try: "a-society serve --link" }, good ? 200 : 401);
      });
    }
    if (this.unknown) return json({ code: "no-token", what: "This needs the token.", why: "The browser is not known.", try: "Open the address that a-society serve printed." }, 401);
    if (parts[1] === "session") return json({});
    if (parts[1] === "search") return json({ hits: this.world.hits ?? [], truncated: false });
    if (parts[1] === "models") return json({ models: this.world.models ?? [] });
    if (parts[1] === "projects") return json({ projects: this.world.projects ?? [] });
    if (parts[1] === "findings") return json({ flows: this.world.findings ?? [], before: null });
    const flow = this.world.flows[`${parts[2]}/${parts[3]}`];
    if (parts[1] !== "flow" || flow === undefined) return json({ code: "not-found", what: "There is nothing here.", why: "The address is not known.", try: "Go back." }, 404);
    const role = url.searchParams.get("role");
    switch (parts[4]) {
      case "items": {
        const before = Number(url.searchParams.get("before") ?? Number.MAX_SAFE_INTEGER);
        const at = Number(url.searchParams.get("at") ?? Number.MAX_SAFE_INTEGER);
        const older = (flow.feeds[role] ?? []).filter((item) => item.first < before && item.first <= at);
        const page = older.slice(-Number(url.searchParams.get("limit") ?? 200));
        return setTimeout(() => json({ items: page, before: older.length > page.length ? page[0].first : null }), this.slow ?? 0);
      }
      case "item": return json(this.bodies.get(parts[5]) ?? { text: "the whole text", total_bytes: 14, next: null, parts: {} });
      case "state": return json(flow.then?.(Number(url.searchParams.get("at"))) ?? flow.state);
      case "track": return json(flow.track ?? { head: flow.state.flow.seq, at: [[1, Date.parse(flow.state.flow.created_at)], [flow.state.flow.seq, Date.parse(flow.state.flow.updated_at)]], nodes: {}, turns: [], hops: [], marks: [] });
      case "events": return json({ events: [], before: null });
      case "files": return json(flow.files ?? { files: [] });
      case "blob": return void response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(flow.blobs?.[parts[5]] ?? "");
      case "revision": {
        if (request.method !== "POST") return json({ source: this.world.graph ?? "" });
        let said = "";
        request.on("data", (bytes) => { said += bytes; });
        return void request.on("end", () => json(this.world.judge(JSON.parse(said).source)));
      }
      case "changes": return json({ diffs: [], truncated: false });
      case "role": return this.#transcript(flow.transcripts?.[parts[5]], url.searchParams, json);
      default: response.writeHead(404).end();
    }
  }

  /** A session: its parts by name, and what they held at a moment. */
  #transcript(kept, query, json) {
    if (kept === undefined) return json({ code: "not-found", what: "there is no such session", why: "no role of the flow bears that name", try: "Go back." }, 404);
    const upto = Number(query.get("at") ?? Number.MAX_SAFE_INTEGER);
    const of = (id) => kept[id].messages.filter((one) => (one.seq ?? 0) <= upto).map((one, n) => ({ n, content: "", tokens: 40, at: one.seq === null ? null : new Date().toISOString(), seq: null, raw: { role: one.kind }, ...one }));
    const segments = Object.entries(kept).map(([id, part]) => ({ id, kind: part.kind ?? id, words: part.words ?? id, messages: of(id).length, tokens: of(id).reduce((sum, one) => sum + one.tokens, 0) }));
    const all = of(query.get("seg") ?? "live");
    const from = Number(query.get("from") ?? 0);
    return json({ segments, messages: all.slice(from, from + Number(query.get("limit") ?? 200)), total: all.length });
  }

  #heard(one, up) {
    if (up.t === "do") return this.#do(one, up);
    if (up.t !== "sub") return;
    const key = keyOf(up.topic);
    if (this.mute.some((part) => key.startsWith(part))) return void this.unspoken.push(() => this.#heard(one, up));
    const kept = this.stateOf(key);
    if (kept === null) return one.say({ t: "gone", id: up.id, why: "This flow was pruned." });
    one.subs.set(up.id, key);
    const seq = this.seq(key);
    if (up.epoch !== this.epoch || up.since !== seq) {
      const items = this.whole ? kept.feed : kept.feed?.slice(-(up.window ?? 200));
      const state = kept.state ?? { items, total: kept.feed.length, before: items.length < kept.feed.length ? items[0].first : null };
      one.say({ t: "snap", id: up.id, seq, epoch: this.epoch, state });
    }
    if (!(this.behind ?? []).includes(key)) one.say({ t: "caught_up", id: up.id, seq, head: seq });
  }
  /** Takes the commands that were held, in the order they came. */
  release() {
    const held = this.held ?? [];
    this.held = null;
    for (const [one, up] of held) this.#do(one, up);
  }
  #do(one, up) {
    if (this.held !== null) return void this.held.push([one, up]);
    if (this.commands.some((given) => given.cmd === up.cmd)) return one.say({ t: "ack", cmd: up.cmd, ok: true, seq: 1, facts: 0 });
    this.commands.push(up);
    if (!this.answers) return;
    // With `first` the first who answers an ask is the one who did, as with the real one.
    if (this.first && !Object.values(this.world.inbox.asks).some((open) => answersIt(up, open))) {
      this.refused.push(up);
      return one.say({ t: "ack", cmd: up.cmd, ok: false, error: { code: "command-refused", what: "This was answered already.", why: "Somebody was first.", try: "Look at the decisions." } });
    }
    one.say({ t: "ack", cmd: up.cmd, ok: true, seq: 1, facts: 1 });
    const flow = `${up.flow.project}/${up.flow.flow}`;
    const ask = Object.values(this.world.inbox.asks).find((open) => answersIt(up, open));
    if (ask === undefined) return;
    this.put("inbox", { [`ask/${ask.id}`]: null, decided: [{ at: new Date().toISOString(), flow: up.flow, role: ask.role, words: up.command.do, detail: ask.short }, ...this.world.inbox.decided] });
    if (this.world.flows[flow] !== undefined) this.put(`flow ${flow}`, { [`ask/${ask.id}`]: null });
  }
}

function answersIt(up, ask) {
  const { command } = up;
  if (ask.flow.flow !== up.flow.flow) return false;
  const kind = ask.kind.kind;
  if (command.do === "allow" || command.do === "deny") return kind === "consent" && ask.kind.consent === command.consent && ask.kind.action === command.action;
  if (command.do === "approve" || command.do === "decline") return kind === "approval" && ask.kind.approval === command.approval;
  if (command.do === "reply" || command.do === "retry") return kind === "text" && command.to.role === ask.role;
  if (command.do === "budget") return kind === "text" && ask.kind.budget !== undefined && ask.kind.budget.role === command.role;
  if (command.do === "configure") return kind === "configuration";
  return { improve: "improvement", feedback: "feedback", unpause: "unpause", resume: kind }[command.do] === kind;
}
