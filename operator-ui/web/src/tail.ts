// Text that is being written: pieces with the number of bytes before them. Pure.
import type { Item } from "./wire";

export type Tail = { text: string; bytes: number; at: string };

const encoder = new TextEncoder();

/** A tail after a piece, or null when a piece before it is missing. What is there already is not added twice. */
export function tailAfter(had: Tail | null, item: Item | null, delta: { offset: number; text: string }, at: string): Tail | null {
  const size = encoder.encode(delta.text).length;
  const text = had?.text ?? item?.text ?? "";
  const bytes = had?.bytes ?? item?.full_bytes ?? encoder.encode(text).length;
  if (delta.offset === bytes) return { text: text + delta.text, bytes: bytes + size, at: had?.at ?? at };
  if (delta.offset === 0) return { text: delta.text, bytes: size, at: had?.at ?? at };
  if (delta.offset + size <= bytes) return had ?? { text, bytes, at };
  return null;
}

/** The items of a feed with the text that is being written. Text without an item follows the last one. */
export function tailed(items: readonly Item[], tails: ReadonlyMap<string, Tail>, role: string): readonly Item[] {
  if (tails.size === 0) return items;
  const left = new Map(tails);
  const out = items.slice();
  // What is being written is among the newest items.
  for (let at = out.length - 1; at >= 0 && left.size > 0; at -= 1) {
    const item = out[at];
    const tail = item === undefined ? undefined : left.get(item.id);
    if (item === undefined || tail === undefined) continue;
    left.delete(item.id);
    out[at] = { ...item, text: tail.text, pending: true };
  }
  const end = items.at(-1);
  for (const [id, tail] of left) {
    out.push({ id, first: (end?.seq ?? 0) + 1, seq: end?.seq ?? 0, at: tail.at, type: "assistant", event: null, label: role, text: tail.text, full_bytes: null, node: end?.node ?? null, turn: end?.turn ?? null, call_id: null, tool: null, pending: true, interrupted: false, discarded: false, took_ms: null, added: null, removed: null, exit: null, outcome: null });
  }
  return out;
}
