// The list of flows: which are shown, and forks under what they are forks of. Pure.
import type { FlowRow } from "../../wire";
import { harmOf } from "../../harm";
import { flowWords } from "../../standing";
import { compare } from "../../words";

export const STATES = ["waits", "working", "limited", "stopped", "paused", "done", "cancelled", "chat"] as const;
export type FlowWord = (typeof STATES)[number];

export function stateOf(row: FlowRow): FlowWord {
  if (row.standing === "cancelled") return "cancelled";
  if (row.over) return "done";
  if (row.chat === true && row.waits === 0) return "chat";
  if (row.waits > 0 || row.standing === "waiting") return "waits";
  switch (row.standing) {
    case "stopped": case "damaged": case "unreachable": return "stopped";
    // Nothing of it works until its provider's limit resets.
    case "limited": return "limited";
    case "paused": return "paused";
    default: return "working";
  }
}

/** The state of a flow, in the few words of a column; with the time, also when it goes on by itself, and with how much it asks. */
export function standing(row: FlowRow, now: number | null = null): string {
  const harm = harmOf(row);
  if (harm !== null) return harm.title;
  const asks = row.over || row.waits === 0 || (row.standing === "waiting" && row.waits === 1) ? "" : row.standing === "waiting" ? ` (${row.waits})` : `, asks (${row.waits})`;
  return flowWords(row, now) + asks;
}

export interface Wanted {
  project: string | null;
  state: string | null;
  q: string | null;
}
export interface Nested {
  row: FlowRow;
  depth: number;
}

export const COLUMNS = ["title", "state", "done", "project", "tokens", "cost", "changed"] as const;
export type Column = (typeof COLUMNS)[number];
export interface Order {
  by: Column;
  /** The other way round than a column begins with: numbers and times with the most, words with the first. */
  turned: boolean;
}
export const NEWEST: Order = { by: "changed", turned: false };

const part = (row: FlowRow): number => (row.nodes === 0 ? 0 : row.nodes_done / row.nodes);
const ORDERS: Record<Column, (a: FlowRow, b: FlowRow) => number> = {
  title: (a, b) => a.title.localeCompare(b.title),
  state: (a, b) => STATES.indexOf(stateOf(a)) - STATES.indexOf(stateOf(b)),
  done: (a, b) => part(b) - part(a),
  project: (a, b) => compare(a.project, b.project),
  tokens: (a, b) => b.tokens - a.tokens,
  cost: (a, b) => b.cost_micros - a.cost_micros,
  changed: (a, b) => compare(b.updated_at, a.updated_at),
};

/** In an order, the newest first where it says nothing; forks follow their parent; a fork whose parent is not shown is listed by itself. */
export function nested(rows: readonly FlowRow[], wanted: Wanted, order: Order = NEWEST): Nested[] {
  const q = (wanted.q ?? "").trim().toLowerCase();
  const fits = rows.filter((r) =>
    (wanted.project === null || r.project === wanted.project) && (wanted.state === null || stateOf(r) === wanted.state) &&
    (q === "" || r.title.toLowerCase().includes(q) || r.flow.toLowerCase().includes(q)));
  const key = (project: string, flow: string): string => `${project}/${flow}`;
  const here = new Set(fits.map((r) => key(r.project, r.flow)));
  const under = new Map<string, FlowRow[]>();
  const roots: FlowRow[] = [];
  for (const r of fits) {
    const parent = r.parent === null ? null : key(r.project, r.parent.flow);
    if (parent === null || !here.has(parent) || parent === key(r.project, r.flow)) roots.push(r);
    else {
      const beside = under.get(parent);
      if (beside === undefined) under.set(parent, [r]);
      else beside.push(r);
    }
  }
  const first = (a: FlowRow, b: FlowRow): number => (order.turned ? -1 : 1) * ORDERS[order.by](a, b) || ORDERS.changed(a, b) || compare(a.flow, b.flow);
  const out: Nested[] = [];
  const seen = new Set<string>();
  const put = (r: FlowRow, depth: number): void => {
    const k = key(r.project, r.flow);
    if (seen.has(k)) return;
    seen.add(k);
    out.push({ row: r, depth });
    for (const child of (under.get(k) ?? []).sort(first)) put(child, Math.min(depth + 1, 6));
  };
  for (const r of roots.sort(first)) put(r, 0);
  // A ring of parents cannot be, but nothing may vanish from a list.
  for (const r of fits) put(r, 0);
  return out;
}
