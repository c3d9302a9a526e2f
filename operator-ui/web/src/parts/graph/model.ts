// What the canvas draws, computed from the views of a flow. Pure, so that a picture is a test.
import { collapse, edgeKey, groupId, ranksOf, type Pair, type Topology } from "../../layout";
import { baseName, clock, tight } from "../../figures";
import { LOOKS_BACK } from "../../said/retrospective";
import { because, DONE, RETRYING, WAITING_FOR_YOU, WORKING } from "../../said/status";
import { NODE } from "../../standing";
import { capital } from "../../words";
import type { Again, EdgeView, FlowState, ImprovementView, NodeState, NodeView, Passed } from "../../wire";

export type Tone = "" | "you" | "run" | "fix" | "fail" | "done";
export interface Card {
  id: string;
  title: string;
  role: string | null;
  /** Said in place of the role, where the title is the role. */
  sub?: string;
  state: NodeState;
  /** Right of the title: a state in words, or how long it took. */
  side: string;
  tone: Tone;
  /** Right of the role: the turn. */
  note: string;
  /** What it does now. A card with a live line is taller. */
  line: string | null;
  /** When it goes on by itself; the remaining time replaces its line. */
  again: Again | null;
  pending: boolean;
  /** Everything the card says, for who does not see it. */
  label: string;
  /** The rank that it represents, when it represents several nodes. */
  opens: number | null;
}
export interface Chip {
  path: string;
  text: string;
  title: string;
  stale: boolean;
}
export interface Line {
  key: string;
  from: string;
  to: string;
  look: "ok" | "no";
}
export interface ChipAt {
  key: string;
  edge: string;
  where: "leave" | "enter";
  chip: Chip;
}
export interface Correction {
  key: string;
  from: string;
  to: string;
  chip: Chip | null;
}
export interface Picture {
  topology: Topology;
  cards: Map<string, Card>;
  lines: Line[];
  chips: ChipAt[];
  corrections: Correction[];
}

const TONE: Record<NodeState, Tone> = {
  "not-reached": "", ready: "", running: "run", "needs-you": "you", suspended: "fix", done: "", failed: "fail", interrupted: "you",
};
/** What a card of several nodes shows: the state that wants attention first. */
const FIRST: readonly NodeState[] = ["needs-you", "failed", "interrupted", "running", "suspended", "ready", "not-reached", "done"];

/** Letters of title and state that fit on one line of a card together. */
const ROOM = 23;

/** The first row of a card has so many pixels for its title and what stands right of it; a letter of each is about so wide in
 * the widest face that a machine may have in place of ours. */
const ROW_PX = 134;
const LETTER_PX = { title: 7.6, side: 6.6 };
const fitsBeside = (title: string, side: string): boolean => title.length * LETTER_PX.title + side.length * LETTER_PX.side <= ROW_PX;

/** What is right of the title, and what is right of the role below it: the state is there where the title leaves it no room, and the
 * turn changes places with it or is left out. */
export function cornersOf(card: Pick<Card, "title" | "side" | "note">): { top: "side" | "note" | null; bottom: "side" | "note" } {
  if (card.side === "") return { top: null, bottom: "note" };
  if (fitsBeside(card.title, card.side)) return { top: "side", bottom: "note" };
  return { top: card.note !== "" && fitsBeside(card.title, card.note) ? "note" : null, bottom: "side" };
}

function sideOf(n: NodeView): string {
  if (n.state === "done") return n.took_ms === null ? "" : tight(n.took_ms);
  if (n.state === "not-reached") return "";
  // Its request was refused and is sent again: it is at work, and does nothing.
  if (retries(n)) return capital(RETRYING);
  const said = n.words.trim();
  // A card that waits for the operator always has the same words; its third line says for what.
  if (n.state === "needs-you") return NODE[n.state];
  // At work, compacting, correcting: no other word tells the same.
  return said !== "" && (n.state === "running" || said.length + n.id.length <= ROOM) ? said : NODE[n.state];
}

const retries = (n: NodeView): boolean => n.again !== null && !n.again.limit;

/** What a role wants continues its name: "wants to run a command". */
const lowered = (said: string, state: NodeState): string => (state === "needs-you" ? said.charAt(0).toLowerCase() + said.slice(1) : said);

export function cardOf(n: NodeView): Card {
  const active = n.state === "running" || n.state === "needs-you" || n.state === "failed" || n.state === "interrupted";
  const said = n.words.trim();
  // Words too long for the corner of the card are its third line.
  const line = active && n.live !== null && n.live.trim() !== "" ? n.live : (active || n.state === "suspended") && (said.length + n.id.length > ROOM || (n.state === "needs-you" && said !== NODE[n.state])) && said !== "" ? lowered(said, n.state) : null;
  const note = n.state === "not-reached" || n.state === "ready" ? (n.human_colab ? "with you" : "") : n.state !== "done" && n.turn !== null ? `turn ${n.turn}` : "";
  const side = sideOf(n);
  const state = (n.state === "suspended" || n.state === "running") && n.words !== "" ? n.words.toLowerCase() : NODE[n.state].toLowerCase();
  return {
    id: n.id, title: n.id, role: n.role, state: n.state, side, note, line: n.again === null ? line : "", opens: null, again: n.again,
    tone: retries(n) ? "you" : TONE[n.state], pending: n.state === "not-reached",
    label: [n.id, n.role, state, n.correction ? "correction" : "", note, n.again === null ? line ?? "" : n.again.limit ? "goes on when its limit resets" : n.again.why === undefined ? "its request is sent again soon" : because("its request is sent again soon", n.again.why)].filter((t) => t !== "").join(", "),
  };
}

function chipOf(list: readonly Passed[]): Chip | null {
  const last = list.findLast((p) => p.superseded_at === null) ?? list[list.length - 1];
  if (!last) return null;
  // Artifacts of one handoff travel together: the first is named, the others are counted.
  const together = list.filter((p) => p.seq === last.seq && p.superseded_at === last.superseded_at);
  const first = together[0] ?? last;
  const stale = last.superseded_at !== null;
  const when = stale ? `superseded at ${clock(Date.parse(last.superseded_at ?? ""), false)}` : `handed over at ${clock(Date.parse(last.at), false)}`;
  const more = together.length - 1;
  return {
    path: first.artifact.path, text: baseName(first.artifact.path) + (more > 0 ? ` +${more}` : ""), stale,
    title: `${together.map((p) => p.artifact.path).join(", ")}, ${when}${last.read ? "" : ", not read yet"}`,
  };
}

function groupCard(id: string, members: readonly NodeView[], rank: number): Card {
  const count = new Map<NodeState, number>();
  for (const m of members) count.set(m.state, (count.get(m.state) ?? 0) + 1);
  const state = FIRST.find((s) => count.has(s)) ?? "not-reached";
  const done = count.get("done") ?? 0;
  const others = FIRST.filter((s) => s !== "done" && s !== "not-reached" && count.has(s)).map((s) => `${count.get(s)} ${NODE[s].toLowerCase()}`);
  return {
    id, title: `${members.length} nodes`, role: null, state, side: `${done} done`, tone: TONE[state], note: "open",
    line: others.length > 0 ? others.join(", ") : null, again: null, pending: state === "not-reached" && done === 0, opens: rank,
    label: `${members.length} nodes, ${done} done${others.length > 0 ? `, ${others.join(", ")}` : ""}. Open this rank`,
  };
}

/** Edges of one source that carry the same artifact share one chip, where they leave. */
function chipsOf(edges: readonly EdgeView[], drawn: ReadonlySet<string>): ChipAt[] {
  const out: ChipAt[] = [];
  const bySource = new Map<string, EdgeView[]>();
  for (const e of edges) bySource.set(e.from, [...(bySource.get(e.from) ?? []), e]);
  for (const [from, list] of bySource) {
    const found = list.flatMap((e) => {
      const chip = chipOf(e.forward);
      return chip && drawn.has(edgeKey(e.from, e.to)) ? [{ e, chip }] : [];
    });
    const one = found[0];
    if (!one) continue;
    const shared = found.every((f) => f.chip.path === one.chip.path && f.chip.stale === one.chip.stale);
    if (shared) out.push({ key: `${from}>`, edge: edgeKey(from, one.e.to), where: "leave", chip: one.chip });
    else for (const f of found) out.push({ key: edgeKey(from, f.e.to), edge: edgeKey(from, f.e.to), where: "enter", chip: f.chip });
  }
  return out;
}

/** The forward pass. */
export function pictureOf(flow: FlowState, open: ReadonlySet<number> = new Set()): Picture {
  const order = flow.order.filter((id) => flow.nodes[id]);
  const rest = Object.keys(flow.nodes).filter((id) => !flow.order.includes(id));
  const all = Object.values(flow.edges).filter((e) => flow.nodes[e.from] && flow.nodes[e.to]);
  const whole: Topology = { nodes: [...order, ...rest], edges: all.map((e): Pair => [e.from, e.to]) };
  const ranks = ranksOf(whole);
  const { topology, groups } = collapse(whole, (id) => ranks.get(id) ?? 0, open);
  const home = new Map<string, string>();
  for (const [id, members] of groups) for (const m of members) home.set(m, id);
  const cards = new Map<string, Card>();
  for (const id of topology.nodes) {
    const members = groups.get(id);
    const node = flow.nodes[id];
    if (members) cards.set(id, groupCard(id, members.flatMap((m) => flow.nodes[m] ?? []), ranks.get(members[0] ?? "") ?? 0));
    else if (node) cards.set(id, cardOf(node));
  }
  const delivered = new Map<string, boolean>();
  const corrections: Correction[] = [];
  for (const e of all) {
    const from = home.get(e.from) ?? e.from;
    const to = home.get(e.to) ?? e.to;
    const key = edgeKey(from, to);
    delivered.set(key, (delivered.get(key) ?? true) && e.state === "delivered");
    if (e.open_correction && from !== to) corrections.push({ key: edgeKey(e.to, e.from), from: to, to: from, chip: chipOf(e.backward) });
  }
  const lines = topology.edges.map(([from, to]): Line => ({ key: edgeKey(from, to), from, to, look: delivered.get(edgeKey(from, to)) ? "ok" : "no" }));
  const plain = all.filter((e) => !home.has(e.from) && !home.has(e.to));
  return { topology, cards, lines, chips: chipsOf(plain, new Set(lines.map((l) => l.key))), corrections };
}

const REFLECTION: Record<"waiting" | "reflecting" | "needs-you" | "done", { state: NodeState; words: string; tone: Tone }> = {
  waiting: { state: "not-reached", words: "", tone: "" },
  reflecting: { state: "running", words: capital(WORKING), tone: "run" },
  "needs-you": { state: "needs-you", words: capital(WAITING_FOR_YOU), tone: "you" },
  done: { state: "done", words: capital(DONE), tone: "" },
};

/** The retrospective: the same canvas, one card a role, edges against the forward pass, findings as chips. */
export function improvementPicture(view: ImprovementView): Picture {
  const ids = Object.keys(view.roles);
  const cards = new Map<string, Card>();
  const edges: Pair[] = [];
  const chips: ChipAt[] = [];
  for (const id of ids) {
    const r = view.roles[id];
    if (!r) continue;
    const look = REFLECTION[r.state];
    cards.set(id, {
      id, title: id, role: id, state: look.state, sub: r.findings ? baseName(r.findings.path) : r.depends_on.length > 0 && r.state === "waiting" ? `after ${r.depends_on.join(", ")}` : LOOKS_BACK, side: look.words, tone: look.tone, note: "", line: null, again: null,
      pending: look.state === "not-reached", label: `${id}, ${r.state.replace("-", " ")}${r.findings ? `, findings in ${r.findings.path}` : ""}`, opens: null,
    });
    for (const before of r.depends_on) if (view.roles[before]) edges.push([before, id]);
  }
  const lines = edges.map(([from, to]): Line => ({ key: edgeKey(from, to), from, to, look: view.roles[from]?.state === "done" ? "ok" : "no" }));
  for (const id of ids) {
    const findings = view.roles[id]?.findings;
    const out = edges.find(([from]) => from === id);
    if (findings && out) chips.push({ key: `${id}>`, edge: edgeKey(id, out[1]), where: "leave", chip: { path: findings.path, text: baseName(findings.path), title: findings.path, stale: false } });
  }
  return { topology: { nodes: ids, edges }, cards, lines, chips, corrections: [] };
}

/** Where a node is drawn: itself, or the card of its rank. */
export function drawnAs(picture: Picture, flow: FlowState, id: string): string {
  if (picture.cards.has(id)) return id;
  const all: Topology = { nodes: Object.keys(flow.nodes), edges: Object.values(flow.edges).map((e): Pair => [e.from, e.to]) };
  return groupId(ranksOf(all).get(id) ?? 0);
}
