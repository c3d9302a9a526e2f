// Asks for the dialogs that have no address, such as the one that forks a flow; every view of a moment can ask.
import type { FlowRef, Measure } from "../wire";

/** A dialog: what it was asked for about, while it is. */
class Dialog<Wanted> {
  wanted = $state.raw<Wanted | null>(null);
  ask(wanted: Wanted): void {
    this.wanted = wanted;
  }
  close(): void {
    this.wanted = null;
  }
}

/** A dialog beside the page. There is one of these at a time. */
class Beside<Wanted> extends Dialog<Wanted> {
  override ask(wanted: Wanted): void {
    for (const one of beside) if (one !== this) one.close();
    super.ask(wanted);
  }
}

/** A new flow that begins as this one was at a moment. */
export const fork = new Dialog<{ flow: FlowRef; at: number; title: string }>();
/** A flow that is started. */
export const start = new Dialog<true>();
/** A project that is made, or an example. */
export const project = new Dialog<{ example: boolean }>();
/** What a flow, or a role of it, may spend. */
export const budget = new Beside<{ flow: FlowRef; role?: string | null; measure?: Measure | null }>();
/** What a flow may do without asking. */
export const rules = new Beside<{ flow: FlowRef }>();
/** What a flow used, by role, model and node. */
export const costs = new Beside<{ flow: FlowRef; at: number | null }>();
/** Another graph that a flow is to walk. */
export const revise = new Beside<{ flow: FlowRef }>();
/** What a role works with. */
export const configure = new Beside<{ flow: FlowRef; role: string }>();
/** A node that is to run again. */
export const reopen = new Beside<{ flow: FlowRef }>();
/** A flow that is to end before it is done. */
export const cancel = new Beside<{ flow: FlowRef }>();
/** A flow that is over and is to be removed for ever. */
export const remove = new Beside<{ flow: FlowRef }>();
/** A flow that is written into one page. */
export const exporting = new Beside<{ flow: FlowRef; title: string }>();

const beside: readonly { close(): void }[] = [budget, rules, costs, revise, configure, reopen, cancel, remove, exporting];
