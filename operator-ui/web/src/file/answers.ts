// What the routes of a server would answer, from the data of a file.
import { hunksOf } from "../diff";
import { asWritten } from "../roles";
import { PROTO, type Diff, type Down, type Events, type Exported, type ExportedRequest, type Fault, type FlowState, type Hit, type Hits, type Item, type NodeView, type RoleView, type SentRequest, type State, type Topic } from "../wire";
import { Moments } from "./moments";
import { Session } from "./sessions";

/** As the server has it. */
const HITS_MAX = 100;
const AROUND = 60;
const SHORTEST = 2;

/** The state of a flow in a file. Nothing in it runs any more: a role that was at work when the file was written is shown as idle. */
function atRest(state: FlowState): FlowState {
  const nodes = Object.entries(state.nodes).map(([id, node]): [string, NodeView] => [id, node.state === "running" ? { ...node, state: "interrupted", words: WAS_WORKING, live: null, again: null } : node]);
  const roles = Object.entries(state.roles).map(([id, role]): [string, RoleView] => [id, role.state === "running" || role.state === "reflecting" ? { ...role, state: "idle" } : role]);
  return { ...state, flow: { ...state.flow, stopped: !state.flow.over }, nodes: Object.fromEntries(nodes), roles: Object.fromEntries(roles) };
}
const WAS_WORKING = "Was working";

const json = (value: unknown, status = 200): Response => new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

function missing(what: string, why: string): Response {
  const fault: Fault = { code: "not-found", what, why, try: "Open the flow in a-society serve." };
  return json(fault, 404);
}

export class Answers {
  readonly data: Exported;
  #moments: Moments;

  constructor(data: Exported) {
    this.data = data;
    this.#moments = new Moments(data.moments);
  }

  hello(): Down {
    const { build, epoch, workspace, exported_at } = this.data;
    return { t: "hello", proto: PROTO, build, epoch, workspace, now: exported_at, mode: "file" };
  }

  /** What a topic holds; null if it is of another flow. A file has no server, so that nothing is pending. */
  state(topic: Topic): State | null {
    const { flow, row, state, feeds } = this.data;
    if (topic.topic === "inbox") return { flows: { [`${flow.project}/${flow.flow}`]: row }, asks: {}, decided: [] };
    if (topic.flow.project !== flow.project || topic.flow.flow !== flow.flow) return null;
    if (topic.topic === "flow") return atRest(state);
    const items = asWritten(feeds[topic.role] ?? []);
    return { items, total: items.length, before: null };
  }

  /** What a request is answered with. */
  answer(path: string): Response {
    const url = new URL(path, "file:///");
    const parts = url.pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
    const query = url.searchParams;
    if (parts[1] === "search") return json(this.#search(query.get("q") ?? ""));
    const { flow } = this.data;
    if (parts[1] !== "flow" || parts[2] !== flow.project || parts[3] !== flow.flow) return this.#none("nothing");
    const [what = "", name = "", more] = parts.slice(4);
    switch (what) {
      case "state": return this.#found(query.has("at") ? this.#moments.at(Number(query.get("at"))) : this.data.state, "events");
      case "track": return json(this.data.track);
      case "items": return json(this.#items(query));
      case "item": return this.#found(this.data.bodies[name], "bodies");
      case "events": return json(this.#events(query));
      case "role": return more === "transcript" ? this.#transcript(name, query) : more === "transcript.json" ? this.#session(name, query) : this.#none("nothing");
      case "request": return this.#request(Number(name));
      case "files": return json(this.data.files);
      case "changes": return json(this.data.changes);
      case "change": return this.#found(this.data.proposals[name], "files");
      case "blob": return name in this.data.blobs ? new Response(this.data.blobs[name]) : this.#none("files");
      case "diff": return this.#diff(query);
      default: return this.#none("nothing");
    }
  }

  #found(value: unknown, part: string): Response {
    return value == null ? this.#none(part) : json(value);
  }

  #none(part: string): Response {
    const why = this.data.without.includes(part) ? `It was written without ${part}.` : "It holds what was kept of the flow, and no more.";
    return missing("This is not in the file.", why);
  }

  /** A request as it was sent: what it has in common with the one before it, and then what is its own. */
  #request(seq: number): Response {
    const { sent, pieces, unwritten, left_out } = this.data.requests;
    const found = sent[seq];
    if (found === undefined) {
      const why = unwritten[seq];
      if (why !== undefined) return missing("this request cannot be shown", why);
      if (left_out > 0) return missing("This is not in the file", `It holds the last requests, and ${left_out} before them were left out so that it stays small`);
      return this.#none("requests");
    }
    // From the last to the first: each says how much of the one before it is also its own.
    const tail: number[][] = [];
    for (let at: ExportedRequest | undefined = found, upto = Infinity; at !== undefined && upto > 0;) {
      if (upto > at.same) tail.push(at.pieces.slice(0, upto - at.same));
      upto = Math.min(upto, at.same);
      at = at.after === undefined ? undefined : sent[at.after];
    }
    const body = tail.reverse().flat().map((n) => pieces[n] ?? "").join("");
    const { model, hash, total_bytes, differs } = found;
    const told: SentRequest = { seq, model, hash, total_bytes, body, ...(differs === undefined ? {} : { differs }) };
    return json(told);
  }

  #items(query: URLSearchParams): { items: Item[]; before: number | null } {
    const all = this.data.feeds[query.get("role") ?? ""] ?? [];
    const [before, at] = [number(query, "before", Infinity), number(query, "at", Infinity)];
    const fit = all.filter((item) => item.first < before && item.first <= at);
    const items = fit.slice(-number(query, "limit", fit.length));
    return { items, before: items.length < fit.length ? (items[0]?.first ?? null) : null };
  }

  #events(query: URLSearchParams): Events {
    const kind = query.get("kind");
    const before = number(query, "before", Infinity);
    const fit = this.data.events.filter((event) => event.seq < before && (kind === null || event.fact === kind));
    const events = fit.slice(-number(query, "limit", 100));
    return { events, before: events.length < fit.length ? (events[0]?.seq ?? null) : null };
  }

  #transcript(role: string, query: URLSearchParams): Response {
    const told = this.#then(role, query)?.window(query.get("seg") ?? "live", number(query, "from", 0), number(query, "limit", 200));
    return told == null ? this.#none("transcripts") : json(told);
  }

  /** A session as it was. */
  #then(role: string, query: URLSearchParams): Session | null {
    const all = this.data.transcripts[role];
    return all === undefined ? null : new Session(all, number(query, "at", Infinity));
  }

  /** A session to take along, under the names that it has on a disk. */
  #session(role: string, query: URLSearchParams): Response {
    const session = this.#then(role, query);
    if (session === null || session.parts.length === 0) return this.#none("transcripts");
    const raws = (id: string): unknown[] => session.messages(id).map((one) => one.raw);
    const archive = (id: string): unknown => ({ id, archivedTranscriptHistory: raws(id) });
    const seg = query.get("seg");
    if (seg !== null) return session.parts.some((part) => part.id === seg) ? json(archive(seg)) : this.#none("transcripts");
    const of = (kind: string): unknown[] => session.parts.filter((part) => part.kind === kind).map((part) => archive(part.id));
    return json({ roleName: role, systemPrompt: session.messages("system")[0]?.content, transcriptHistory: raws("live"), compactionArchives: of("compaction"), trimArchives: of("trim") });
  }

  #diff(query: URLSearchParams): Response {
    const [a, b] = [query.get("a"), query.get("b") ?? ""];
    const [old, now] = [a === null ? "" : this.data.blobs[a], this.data.blobs[b]];
    if (old === undefined || now === undefined) return this.#none("files");
    const diff: Diff = { path: query.get("path") ?? "", old: a, new: b, hunks: hunksOf(old, now), truncated: false };
    return json(diff);
  }

  #search(text: string): Hits {
    const query = text.trim().toLowerCase();
    const hits: Hit[] = [];
    if (query.length < SHORTEST) return { hits, truncated: false };
    for (const [role, items] of Object.entries(this.data.feeds)) {
      for (const item of items.toReversed()) {
        const found = [item.text, item.label].map((one) => snippet(one, query)).find((one) => one !== null);
        if (found === undefined || found === null) continue;
        if (hits.length >= HITS_MAX) return { hits, truncated: true };
        hits.push({ flow: this.data.flow, role, seq: item.seq, item: item.id, snippet: found, at: item.at });
      }
    }
    return { hits, truncated: false };
  }
}

function number(query: URLSearchParams, name: string, none: number): number {
  const said = query.get(name);
  return said === null ? none : Number(said);
}

function snippet(text: string, query: string): string | null {
  const at = text.toLowerCase().indexOf(query);
  return at < 0 ? null : text.slice(Math.max(0, at - AROUND), at + query.length + AROUND).split(/\s+/).join(" ").trim();
}
