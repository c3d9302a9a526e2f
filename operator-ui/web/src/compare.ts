// Two runs beside each other: by node, by artifact and in all. Pure.
import type { Cost, Costs, Files, FlowRef, FlowRow, FlowState, NodeState } from "./wire";
import { compare as order } from "./words";

/** One run, as the server tells it. */
export interface Run {
  state: FlowState;
  costs: Costs;
  files: Files;
}
/** What one run did at a node. */
export interface NodeSide {
  state: NodeState;
  words: string;
  cost: Cost;
}
/** A node of either run. What belongs to none, such as looking back, has no id. */
export interface NodeLine {
  id: string;
  role: string;
  a: NodeSide | null;
  b: NodeSide | null;
}
export type FileStands = "same" | "differs" | "a" | "b";
export interface Text {
  hash: string;
  bytes: number;
}
export interface FileLine {
  path: string;
  stands: FileStands;
  a: Text | null;
  b: Text | null;
}
/** What is measured of a node and of a whole run. */
export const MEASURES = ["turns", "ms", "tokens", "cost_micros"] as const;
export type Measure = (typeof MEASURES)[number];

const NOTHING: Cost = { name: "", tokens: 0, output: 0, cached: 0, requests: 0, turns: 0, ms: 0, cost_micros: 0 };

/** Nodes in the order of the first graph; those that only the second has are placed by their order there. */
export function union(a: readonly string[], b: readonly string[]): string[] {
  const out = [...a];
  for (const [n, id] of b.entries()) {
    if (out.includes(id)) continue;
    const before = b.slice(0, n).findLast((one) => out.includes(one));
    out.splice(before === undefined ? 0 : out.indexOf(before) + 1, 0, id);
  }
  return out;
}

function inOrder(state: FlowState): string[] {
  const known = state.order.filter((id) => id in state.nodes);
  return [...known, ...Object.keys(state.nodes).filter((id) => !known.includes(id))];
}

function side(run: Run, id: string): NodeSide | null {
  const cost = run.costs.nodes.find((one) => one.name === id);
  if (id === "") return cost === undefined ? null : { state: "done", words: "", cost };
  const node = run.state.nodes[id];
  return node === undefined ? null : { state: node.state, words: node.words, cost: cost ?? { ...NOTHING, name: id } };
}

export function nodeLines(a: Run, b: Run): NodeLine[] {
  const ids = union(inOrder(a.state), inOrder(b.state));
  const lines = ids.map((id) => ({ id, role: (a.state.nodes[id] ?? b.state.nodes[id])?.role ?? "", a: side(a, id), b: side(b, id) }));
  const rest = { id: "", role: "", a: side(a, ""), b: side(b, "") };
  return rest.a === null && rest.b === null ? lines : [...lines, rest];
}

/** Whether two runs did not do the same at a node. How long a turn took differs each time, and is no difference. */
export function differs(line: NodeLine): boolean {
  if (line.a === null || line.b === null) return true;
  return line.a.state !== line.b.state || line.a.cost.turns !== line.b.cost.turns;
}

function texts(files: Files): Map<string, Text> {
  const out = new Map<string, Text>();
  for (const file of files.files) {
    const last = file.versions.at(-1);
    if (last !== undefined) out.set(file.path, { hash: last.hash, bytes: last.bytes });
  }
  if (files.delivered !== undefined) out.set(files.delivered.path, { hash: files.delivered.hash, bytes: files.delivered.bytes });
  return out;
}

const natural = new Intl.Collator("en", { numeric: true });
const FIRST: Record<FileStands, number> = { differs: 0, a: 1, b: 2, same: 3 };

/** The last version of each artifact: what differs first, then what only one run has. */
export function fileLines(a: Files, b: Files): FileLine[] {
  const [one, other] = [texts(a), texts(b)];
  const paths = [...new Set([...one.keys(), ...other.keys()])];
  const lines = paths.map((path): FileLine => {
    const [x, y] = [one.get(path) ?? null, other.get(path) ?? null];
    return { path, a: x, b: y, stands: y === null ? "a" : x === null ? "b" : x.hash === y.hash ? "same" : "differs" };
  });
  return lines.sort((x, y) => FIRST[x.stands] - FIRST[y.stands] || natural.compare(x.path, y.path));
}

/** How long a run lasted: one that is driven, until now. */
export function lasted(state: FlowState, now: number): number {
  const { over, stopped, created_at, updated_at } = state.flow;
  return Math.max(0, (over || stopped ? Date.parse(updated_at) : Math.max(now, Date.parse(updated_at))) - Date.parse(created_at));
}

export type Kin = "parent" | "fork" | "graph" | "other";
export interface Candidate {
  row: FlowRow;
  kin: Kin;
}
const NEAREST: readonly Kin[] = ["parent", "fork", "graph", "other"];

/** What a run can be compared with: its parent, its forks, those of the same graph, and the rest; the newest first of each. */
export function candidates(rows: readonly FlowRow[], flow: FlowRef): Candidate[] {
  const mine = rows.find((row) => row.project === flow.project && row.flow === flow.flow);
  const kinOf = (row: FlowRow): Kin => {
    if (row.project !== flow.project) return "other";
    if (mine?.parent?.flow === row.flow) return "parent";
    if (row.parent?.flow === flow.flow) return "fork";
    return mine?.workflow !== undefined && row.workflow === mine.workflow ? "graph" : "other";
  };
  const others = rows.filter((row) => row.project !== flow.project || row.flow !== flow.flow);
  const all = others.map((row) => ({ row, kin: kinOf(row) }));
  return all.sort((x, y) => NEAREST.indexOf(x.kin) - NEAREST.indexOf(y.kin) || order(y.row.created_at, x.row.created_at));
}

/** A difference with its sign: "+3", "−1.2k"; nothing where there is none, or too little to show. */
export function signed(a: number, b: number, words: (n: number) => string): string {
  if (words(Math.abs(b - a)) === words(0)) return "";
  return `${b > a ? "+" : "−"}${words(Math.abs(b - a))}`;
}
