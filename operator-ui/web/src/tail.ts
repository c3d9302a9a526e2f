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
