// The list of flows: which are shown, and forks under what they are forks of. Pure.
import type { FlowRow } from "../../wire";
import { harmOf } from "../../harm";
import { compare } from "../../words";

export const STATES = ["waits", "running", "stopped", "idle", "done", "cancelled"] as const;
export type FlowWord = (typeof STATES)[number];

/** A choice after the forward pass waits as much as a question does. */
const chooses = (row: FlowRow): boolean => row.phase === "improvement_choice" || row.phase === "feedback_consent";

export function stateOf(row: FlowRow): FlowWord {
  if (row.phase === "cancelled") return "cancelled";
  if (row.over || row.phase === "completed") return "done";
  if (row.waits > 0 || (chooses(row) && row.running === 0)) return "waits";
  if (row.stopped) return "stopped";
  return row.running > 0 || row.driven_by !== null ? "running" : "idle";
}

/** The state of a flow, in the few words of a column. */
export function standing(row: FlowRow): string {
  const harm = harmOf(row.damage);
  if (harm !== null) return harm.title;
  switch (stateOf(row)) {
    case "cancelled": return "Cancelled";
    case "done": return "Completed";
    case "stopped": return "Stopped";
    case "idle": return "Idle";
    case "waits": return chooses(row) && row.waits === 0 ? "Retrospective?" : row.waits === 1 ? "Needs an answer" : `Needs ${row.waits} answers`;
    case "running": return row.phase === "improving" ? "Improving" : row.phase === "feedback" ? "Writing its report" : row.again === null ? "Running" : row.again.limit ? "Waiting for a limit" : "Retrying";
  }
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

/** Newest first; forks follow their parent; a fork whose parent is not shown is listed by itself. */
export function nested(rows: readonly FlowRow[], wanted: Wanted): Nested[] {
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
  const newest = (a: FlowRow, b: FlowRow): number => compare(b.updated_at, a.updated_at) || compare(a.flow, b.flow);
  const out: Nested[] = [];
  const seen = new Set<string>();
  const put = (r: FlowRow, depth: number): void => {
    const k = key(r.project, r.flow);
    if (seen.has(k)) return;
    seen.add(k);
    out.push({ row: r, depth });
    for (const child of (under.get(k) ?? []).sort(newest)) put(child, Math.min(depth + 1, 6));
  };
  for (const r of roots.sort(newest)) put(r, 0);
  // A ring of parents cannot be, but nothing may vanish from a list.
  for (const r of fits) put(r, 0);
  return out;
}
