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
    besides(this);
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
    besides(this);
    this.wanted = { flow };
  }
  close(): void {
    this.wanted = null;
  }
}
export const revise = new Revise();

/** The same for what a role works with. */
class Configure {
  wanted = $state.raw<{ flow: FlowRef; role: string } | null>(null);
  ask(flow: FlowRef, role: string): void {
    besides(this);
    this.wanted = { flow, role };
  }
  close(): void {
    this.wanted = null;
  }
}
export const configure = new Configure();

/** The same for a node that is to run again. */
class Reopen {
  wanted = $state.raw<{ flow: FlowRef } | null>(null);
  ask(flow: FlowRef): void {
    besides(this);
    this.wanted = { flow };
  }
  close(): void {
    this.wanted = null;
  }
}
export const reopen = new Reopen();

/** One dialog stands beside the page at a time. */
function besides(asked: object): void {
  for (const one of [budget, revise, configure, reopen]) if (one !== asked) one.close();
}
