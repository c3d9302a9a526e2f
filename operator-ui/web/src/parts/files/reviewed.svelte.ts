// Which changes this operator has read, kept by the browser. A tick is for one text: when the file changes again, it is gone.
import { refKey } from "../../router";
import type { Diff, FlowRef } from "../../wire";

const KEY = "a-society.reviewed";
/** Ticks kept, oldest forgotten. */
const MOST = 4000;

function read(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((k): k is string => typeof k === "string") : [];
  } catch {
    return [];
  }
}

class Reviewed {
  #ticks = $state.raw<ReadonlySet<string>>(new Set(read()));
  #name(flow: FlowRef, diff: Diff): string {
    return `${refKey(flow)}|${diff.path}|${diff.new}`;
  }
  has(flow: FlowRef, diff: Diff): boolean {
    return this.#ticks.has(this.#name(flow, diff));
  }
  set(flow: FlowRef, diff: Diff, on: boolean): void {
    const next = new Set(this.#ticks);
    next.delete(this.#name(flow, diff));
    if (on) next.add(this.#name(flow, diff));
    this.#ticks = new Set([...next].slice(-MOST));
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.#ticks]));
    } catch {
      // A browser that keeps nothing forgets the ticks when it is closed.
    }
  }
}
export const reviewed = new Reviewed();
