// The flows of the rail as one list: what blocks on the operator, then what is at work, then the rest, and chats last. Pure.
import { compare } from "./words";
import { refKey } from "./router";
import type { Ask, FlowRef, FlowRow } from "./wire";

/** The end of a flow's id, by which the terminal takes it, too. */
const tailOf = (flow: string): string => flow.slice(flow.lastIndexOf("-") + 1);

/** What tells flows of one title apart: the end of the id of each, by the name of the flow. */
export function tails(rows: Iterable<FlowRef & { title: string }>): ReadonlyMap<string, string> {
  const first = new Map<string, FlowRef>();
  const found = new Map<string, string>();
  const note = (flow: FlowRef): void => void found.set(refKey(flow), tailOf(flow.flow));
  for (const row of rows) {
    // Without a title a flow is called by its id.
    if (row.title === "") continue;
    const other = first.get(row.title);
    if (other === undefined) first.set(row.title, row);
    else [other, row].forEach(note);
  }
  return found;
}

/** Lines that a person reads at a glance; the rest is in the list of flows. */
export const MOST_LINES = 24;

export interface RailLine {
  row: FlowRow;
  /** What of it blocks on the operator; null if nothing does. */
  ask: Ask | null;
}

const newest = (one: string, other: string): number => compare(other, one);
const works = (row: FlowRow): boolean => !row.over && (row.running > 0 || (row.again !== null && !row.stopped));

/** So many lines as there is room for; the flow that is open is always one of them. */
export function railLines(rows: readonly FlowRow[], asks: readonly Ask[], here: string | null, most: number): RailLine[] {
  const blocking = new Map<string, Ask>();
  for (const ask of asks) if (ask.blocking && !blocking.has(refKey(ask.flow))) blocking.set(refKey(ask.flow), ask);
  const lines = rows.map((row): RailLine => ({ row, ask: blocking.get(refKey(row)) ?? null }));
  const need = ({ row, ask }: RailLine): number => (ask !== null ? 0 : row.chat === true ? 3 : works(row) ? 1 : 2);
  // A working flow changes all the time; its place in the list does not follow that.
  const recent = ({ row, ask }: RailLine): string => ask?.since ?? (works(row) ? row.created_at : row.updated_at);
  lines.sort((a, b) => need(a) - need(b) || newest(recent(a), recent(b)) || compare(refKey(a.row), refKey(b.row)));
  const at = lines.findIndex(({ row }) => refKey(row) === here);
  const open = lines[at];
  return at < most || open === undefined ? lines.slice(0, most) : [...lines.slice(0, most - 1), open];
}
