// How a role looks: two letters and a hue that its name decides, the same on every screen.
import { COMPACTING, RETRYING } from "./said/status";
import { compare, heldWords } from "./words";
import type { Again, FlowHead, FlowState, Item, NodeView, RoleView } from "./wire";

const HUES = [85, 300, 235, 165, 20, 120, 200, 340, 50, 265, 145, 320] as const;

/** Two letters of a role's name. `owner_2` differs from `owner` by its number. */
export function letters(role: string): string {
  const [name = "", number] = role.split(/_(?=\d+$)/);
  const words = name.split(/[-_\s]+/).filter((word) => word !== "");
  const first = words[0] ?? "?";
  const two = words.length > 1 ? first.charAt(0) + (words[1] ?? "").charAt(0) : first.slice(0, 2);
  if (number !== undefined) return two.charAt(0).toUpperCase() + number.slice(-1);
  return two.charAt(0).toUpperCase() + two.slice(1).toLowerCase();
}

/** The hue of a role's tint, from its base name, so that instances of one role share it. */
export function hue(role: string): number {
  let sum = 7;
  for (const letter of role.replace(/_\d+$/, "")) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return HUES[sum % HUES.length] ?? 235;
}

/** Whether a role is in a turn now. The turn of a flow without a driver was cut off, whatever was recorded of it last. */
export const works = (role: Pick<RoleView, "state"> | null | undefined, flow: Pick<FlowHead, "stopped" | "over">): boolean => (role?.state === "running" || role?.state === "reflecting") && !flow.stopped && !flow.over;

/** The items of a file: nothing in it is at work any more, and what was is as it was. */
export const asWritten = (items: readonly Item[]): Item[] => items.map((item) => (item.pending ? { ...item, pending: false } : item));

/** The items of a role whose turn was cut off: what was being written or done is neither now. A question still waits, and so does the call it is about. */
export function cutOff(items: readonly Item[]): readonly Item[] {
  const asked = new Set<Item>();
  let call: Item | null = null;
  for (const item of items) {
    if (item.pending && item.type === "tool") call = item;
    if (item.pending && item.consent !== undefined && call !== null) asked.add(call);
  }
  const cut = (item: Item): boolean => item.pending && item.consent === undefined && !asked.has(item) && (item.type === "assistant" || item.type === "reasoning" || item.type === "tool");
  return items.map((item) => (cut(item) ? { ...item, pending: false, interrupted: true } : item));
}

/** Until when the clock of a flow runs: now while it has a driver, else its last record. */
export function clockEnd(flow: Pick<FlowHead, "stopped" | "over" | "updated_at">, now: number): number {
  const last = Date.parse(flow.updated_at);
  return flow.over || flow.stopped ? last : Math.max(now, last);
}

/** Roles that are in a turn and do nothing: their request waits for its next try, or their session is being compacted; and which. */
export function waitingRoles(flow: Pick<FlowState, "nodes">): ReadonlyMap<string, string> {
  const waits = (node: NodeView): string | null => (node.again !== null ? (heldWords(node.again) ?? RETRYING) : node.words.toLowerCase() === COMPACTING ? COMPACTING : null);
  return new Map(Object.values(flow.nodes).flatMap((node) => { const why = waits(node); return why === null ? [] : [[node.role, why] as const]; }));
}

/** When something of a flow goes on by itself, the soonest first, also while other roles work. */
export function nextAgain(flow: Pick<FlowState, "flow" | "nodes">): Again | null {
  if (flow.flow.again !== null || flow.flow.stopped || flow.flow.over) return flow.flow.again;
  const all = Object.values(flow.nodes).flatMap((node) => (node.again === null ? [] : [node.again]));
  return all.sort((a, b) => compare(a.at, b.at))[0] ?? null;
}
