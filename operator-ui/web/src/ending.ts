// How a person's turn ends: the words of the reply that ends it, and what is missing before it can. Pure.
import { CLOSE_THE_FLOW, FINISH, HAND_OVER, SEND_BACK, WAIT_FOR_MORE } from "./said/handoffs";
import type { FileVersions, OwnTurn, RecordFile } from "./wire";
import { capital, list } from "./words";

export type Ending = "over" | "back" | "wait" | "close" | "write";

/** The ways that a turn has, the usual one first. */
export function endings(turn: OwnTurn): Ending[] {
  if (turn.writes !== undefined) return ["write"];
  const list: Ending[] = [];
  if (turn.forward.length > 0) list.push("over");
  if (turn.closes) list.push("close");
  if (turn.backward.length > 0) list.push("back");
  if (turn.waits) list.push("wait");
  return list;
}

export const ENDING_WORDS: Record<Ending, string> = { over: capital(HAND_OVER), back: capital(SEND_BACK), wait: capital(WAIT_FOR_MORE), close: capital(CLOSE_THE_FLOW), write: capital(FINISH) };

export type Targets = { nodes: readonly string[]; path: string };

/** YAML reads every JSON string as that text. */
const text = (value: string): string => JSON.stringify(value);

/** What a turn is to end with. It is a wish until the flow has taken it. */
export const outcome = (ending: Ending, nodes: readonly string[]): string => (ending === "over" || ending === "back" ? `${ENDING_WORDS[ending]} to ${list(nodes)}` : ENDING_WORDS[ending]);

/** The reply that ends a turn: its text, and the block that names the receivers of the file. */
export function reply(ending: Ending, turn: OwnTurn, { nodes, path }: Targets, said: string): string {
  const words = said.trim();
  const after = words === "" ? "" : `\n${words}`;
  if (ending === "wait") return `wait${after}`;
  if (ending === "close") return `close${after}`;
  if (ending === "write") return `${turn.writes?.word ?? "findings"}: ${turn.writes?.path ?? ""}${after}`;
  const targets = nodes.map((node) => `- target_node_id: ${text(node)}\n  artifact_path: ${text(path)}`);
  // A block in the text would be read in its place.
  const told = words === "" ? `${outcome(ending, nodes)}: ${path}` : words;
  const plain = told.replace(/^(\s*)```/gm, "$1'''");
  return `${plain}\n\n\`\`\`handoff\n${targets.join("\n")}\n\`\`\``;
}

/** What is missing before a turn can end so; null if nothing is. */
export function lacks(ending: Ending, { nodes, path }: Targets, body: string, handed: ReadonlySet<string> = new Set()): string | null {
  if (ending === "wait" || ending === "close") return null;
  if (ending === "write") return body.trim() === "" ? "Write the file first." : null;
  if (nodes.length === 0) return "Choose who receives it.";
  if (path.trim() === "") return "Name the file.";
  if (handed.has(path.trim())) return `${path.trim()} was handed over before: give the file another name.`;
  if (body.trim() === "") return ending === "back" ? "Say what has to change." : "Write the file, upload one or choose one that is there.";
  return null;
}

/** What came in to a node and was not replaced since, the newest last. */
export function incoming(files: readonly FileVersions[], node: string | null): { path: string; hash: string; bytes: number; from: string; seq: number }[] {
  const list = files.flatMap(({ path, versions }) => versions.filter((one) => one.to === node && !one.superseded && one.waits !== true).map((one) => ({ path, hash: one.hash, bytes: one.bytes, from: one.from, seq: one.seq })));
  return list.sort((a, b) => a.seq - b.seq);
}

/** The paths that were handed over: a flow takes each of them once. What waits for an approval was not. */
export const handedBefore = (files: readonly FileVersions[]): ReadonlySet<string> => new Set(files.filter(({ versions }) => versions.some((one) => one.waits !== true)).map((one) => one.path));

/** What a turn can be ended with, the files that can be chosen first. */
export function offered(files: readonly RecordFile[], handed: ReadonlySet<string>): { path: string; bytes: number; before: boolean }[] {
  const all = files.map(({ path, bytes }) => ({ path, bytes, before: handed.has(path) }));
  return [...all.filter((one) => !one.before), ...all.filter((one) => one.before)];
}

/** A name for a new file that no other has. */
export function freeName(role: string, taken: readonly string[], reason: boolean): string {
  const base = `record/${role}${reason ? "-reason" : ""}`;
  for (let n = 1; ; n += 1) {
    const name = `${base}${n === 1 ? "" : `-${n}`}.md`;
    if (!taken.includes(name)) return name;
  }
}

/** The handed-over file that this one replaces: the version of the same file that the role handed over last, or
 * else what went to the same node. Null if there is none, or if it is the same. */
export function former(files: readonly FileVersions[], from: string | null, file: { path: string; hash: string; to: readonly string[] }): { path: string; hash: string } | null {
  const passed = files.flatMap(({ path, versions }) => versions.filter((one) => one.from === from && one.waits !== true).map((one) => ({ path, hash: one.hash, to: one.to, seq: one.seq })));
  passed.sort((a, b) => a.seq - b.seq);
  const last = passed.findLast((one) => one.path === file.path) ?? passed.findLast((one) => file.to.includes(one.to));
  return last === undefined || last.hash === file.hash ? null : { path: last.path, hash: last.hash };
}
