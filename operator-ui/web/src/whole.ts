// Whether a call was shown to its end before it is allowed: what is allowed is what was seen. Pure.
import { several } from "./words";

/** What of a box is in view, in pixels: how far it is scrolled, how much it shows, how much there is, and one line. */
export type View = { top: number; tall: number; full: number; line: number };

/** Parts of a pixel that zooming leaves over are no line. */
const SLACK = 2;

/** How many lines are below what is in view. */
export function below({ top, tall, full, line }: View): number {
  const rest = full - top - tall;
  return rest <= SLACK ? 0 : Math.max(1, Math.round(rest / line));
}

/** How many lines are missing, in words. */
export const missing = (lines: number): string => several(lines, "more line");

/** How much of each call was not shown yet, and which are shown at full height. */
export class Sights {
  #left: Map<string, number>;
  #open: Map<string, true>;
  constructor(left: Map<string, number> = new Map(), open: Map<string, true> = new Map()) {
    this.#left = left;
    this.#open = open;
  }
  /** A box came into view or was scrolled: what was shown once stays shown. `more` lines are not in the box yet. */
  saw(name: string, view: View, more = 0): void {
    const now = more + (this.#open.has(name) ? 0 : below(view));
    const before = this.#left.get(name);
    if (before === undefined || now < before) this.#left.set(name, now);
  }
  /** The lines that were never shown; null while nothing was. */
  left(name: string): number | null {
    return this.#left.get(name) ?? null;
  }
  isOpen(name: string): boolean {
    return this.#open.has(name);
  }
  /** Shows all of it, or as much as its box has room for. */
  turn(name: string): void {
    if (this.#open.delete(name)) return;
    this.#open.set(name, true);
    this.#left.set(name, 0);
  }
}
