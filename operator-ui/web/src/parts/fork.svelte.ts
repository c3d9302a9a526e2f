// Asks for the dialog that forks a flow; whoever shows a moment can ask.
import type { FlowRef } from "../wire";

class Fork {
  wanted = $state.raw<{ flow: FlowRef; at: number; title: string } | null>(null);
  ask(flow: FlowRef, at: number, title: string): void {
    this.wanted = { flow, at, title };
  }
  close(): void {
    this.wanted = null;
  }
}
export const fork = new Fork();

/** The same for the dialog that starts a flow. */
class Start {
  wanted = $state(false);
}
export const start = new Start();
