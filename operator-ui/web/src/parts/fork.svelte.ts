// Asks for the dialogs that have no address, such as the one that forks a flow; whoever shows a moment can ask.
import type { FlowRef, Measure } from "../wire";

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

/** The same for what a flow, or a role of it, may spend. */
class Budget {
  wanted = $state.raw<{ flow: FlowRef; role: string | null; measure: Measure | null } | null>(null);
  ask(flow: FlowRef, role: string | null = null, measure: Measure | null = null): void {
    revise.close();
    this.wanted = { flow, role, measure };
  }
  close(): void {
    this.wanted = null;
  }
}
export const budget = new Budget();

/** The same for another graph that a flow is to walk. */
class Revise {
  wanted = $state.raw<{ flow: FlowRef } | null>(null);
  ask(flow: FlowRef): void {
    budget.close();
    this.wanted = { flow };
  }
  close(): void {
    this.wanted = null;
  }
}
export const revise = new Revise();
