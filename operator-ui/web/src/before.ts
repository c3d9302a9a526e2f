// What was shown when this tab was left or loaded anew: a placeholder while data loads, never presented as current.
import { MOST_LINES, railLines } from "./rail";
import type { Ask, FlowRow, FlowState } from "./wire";

const ROWS = "a-society.rail";
const FLOW = "a-society.flow";
/** A browser keeps little, and a graph larger than this is folded by rank anyway. */
const MOST_BYTES = 400_000;

export type Rows = { workspace: string; rows: readonly FlowRow[] };
/** A flow without anything that is news: its shape, and how tall its time strip was. */
export type Shape = { state: FlowState; strip: number };

function read<T>(key: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") as T | null;
  } catch {
    return null;
  }
}
function write(key: string, value: unknown): void {
  try {
    const text = JSON.stringify(value);
    if (text.length <= MOST_BYTES) sessionStorage.setItem(key, text);
  } catch {
    // Nothing is kept then, and the next page begins with nothing.
  }
}

export const railBefore = (): Rows | null => read<Rows>(ROWS);
/** Keeps the flows in the order in which the rail shows them, so that none moves when the tab is back. */
export function keepRail(workspace: string, flows: readonly FlowRow[], asks: readonly Ask[]): void {
  write(ROWS, { workspace, rows: railLines(flows, asks, null, MOST_LINES).map((line) => line.row) });
}

export function shapeBefore(project: string, flow: string): Shape | null {
  const kept = read<Shape>(FLOW);
  return kept !== null && kept.state.flow.project === project && kept.state.flow.flow === flow ? kept : null;
}
export const keepShape = (state: FlowState, strip: number): void => write(FLOW, { state: greyed(state), strip });

/** The bare shape of a flow, without its state. */
export function greyed(state: FlowState): FlowState {
  const nodes: FlowState["nodes"] = {};
  for (const [id, node] of Object.entries(state.nodes)) nodes[id] = { ...node, state: "not-reached", words: "", live: null, since: null, took_ms: null, turn: null, attempt: null, correction: false };
  const edges: FlowState["edges"] = {};
  for (const [key, edge] of Object.entries(state.edges)) edges[key] = { ...edge, state: "not-yet", forward: [], backward: [], open_correction: false };
  return { ...state, flow: { ...state.flow, input: null, waits: 0, running: 0 }, nodes, edges, roles: {}, asks: {}, improvement: null, changes: {} };
}
