// What flows and nodes are doing, in the words of the terminal. Pure.
import { CANCELLED, CLOSED, COMPACTING, COMPLETED, DAMAGED, DONE, FAILED, LEDGER_UNREACHABLE, LIMITED, NOT_REACHED, PAUSED, READY, RETRYING, STOPPED, WAITING, WAITING_FOR_YOU, WORKING, YOUR_TURN } from "./said/status";
import { capital, goesOn } from "./words";
import type { Doing, FlowRow, NodeState } from "./wire";

const FLOW: Record<Doing, string> = {
  working: WORKING, retrying: RETRYING, limited: LIMITED, compacting: COMPACTING, waiting: WAITING_FOR_YOU, "your-turn": YOUR_TURN, closed: CLOSED, paused: PAUSED,
  stopped: STOPPED, damaged: DAMAGED, unreachable: LEDGER_UNREACHABLE, completed: COMPLETED, cancelled: CANCELLED,
};

/** What a flow is doing; with the time that is left, where it goes on by itself and the clock is known. */
export const flowWords = (row: Pick<FlowRow, "standing" | "again">, now: number | null): string => (row.again !== null && now !== null ? goesOn(row.again, now) : capital(FLOW[row.standing]));

/** What a node is doing, where its own words have no room. */
export const NODE: Record<NodeState, string> = {
  "not-reached": capital(NOT_REACHED), ready: capital(READY), running: capital(WORKING), "needs-you": capital(WAITING_FOR_YOU), suspended: capital(WAITING),
  done: capital(DONE), failed: capital(FAILED), interrupted: capital(STOPPED),
};
