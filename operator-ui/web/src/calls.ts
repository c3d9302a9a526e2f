// A tool item's text begins with what was asked, and goes on with what came back. Pure.
import { CALL_END, CUT_OFF, exitCode, exitSignal } from "./said/calls";
import { FAILED } from "./said/status";
import { several } from "./words";
import type { CallEnd, Item, Task } from "./wire";

/** What is done by a tool that changes files, for those who do not see its sign. */
const EDIT_VERB: Record<string, string> = { edit_file: "edit ", write_file: "write ", apply_patch: "patch " };

/** Whether a call of such a tool was refused before anything was done: its text is only why. */
const onlyWhy = (item: Item): boolean => item.type === "tool-error" && item.asked === undefined && item.tool !== null && item.tool in EDIT_VERB;

/** The files that a refused call names, which its text does not. */
const named = (item: Item): string | null => (item.files === undefined ? null : item.files.map((file) => file.path).join(", "));

/** What was asked, in a line. A feed that another program began has it in its text only, of which it is the first line. */
const asked = (item: Item): string => item.asked ?? item.text.split("\n", 1)[0] ?? "";

/** What was asked, on one line: a command or a file as it is, since the sign in front says what is done with it. */
export function callLine(item: Item, kind: "edit" | "run" | "call"): string {
  if (onlyWhy(item)) return named(item) ?? item.tool ?? item.label;
  if (item.tasks !== undefined) return listWords(item.tasks);
  if (kind === "run" && item.command !== undefined) return item.command;
  // Each of several has a row of its own.
  if (kind === "edit" && item.files !== undefined) return several(item.files.length, "file");
  if (kind === "edit" && item.path !== undefined) return item.line === undefined ? item.path : `${item.path}, line ${item.line}`;
  const line = asked(item);
  return line === "" ? (item.tool ?? item.label) : line;
}

/** How far a task list is, and what is being done. */
export function listWords(tasks: readonly Task[]): string {
  const now = tasks.find((task) => task.state === "in_progress");
  return `${doneWords(tasks)}${now === undefined ? "" : `, now: ${now.text}`}`;
}
export const doneWords = (tasks: readonly Task[]): string => `${tasks.filter((task) => task.state === "done").length} of ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"} done`;

/** What is done, for those who do not see the sign. */
export function callVerb(item: Item, kind: "edit" | "run" | "call"): string {
  if (kind === "run") return item.command === undefined ? "" : "run ";
  const names = item.path !== undefined || item.files !== undefined;
  return kind === "edit" && names ? (EDIT_VERB[item.tool ?? ""] ?? "") : "";
}

/** The ends of a call that are neither its success nor its own failure, and whether they are a failure. */
const ENDS: Partial<Record<CallEnd, boolean>> = { denied: false, stopped: false, not_run: false, timed_out: true, unknown: true };

/** How a call ended that did not work, and whether that is a failure; nothing for one that runs or worked. */
export function callEnd(item: Item): { words: string; bad: boolean } | null {
  if (item.interrupted) return { words: CUT_OFF, bad: false };
  // A code may mean something to a flow, and is no failure then.
  if (item.type === "tool-success" && (item.exit ?? 0) !== 0) return { words: exitCode(`${item.exit}`), bad: false };
  if (item.type !== "tool-error") return null;
  const bad = item.end && ENDS[item.end];
  if (item.end && bad !== undefined) return { words: CALL_END[item.end], bad };
  return { words: item.signal !== undefined ? exitSignal(`${item.signal}`) : item.exit === null ? FAILED : exitCode(`${item.exit}`), bad: true };
}

/** What came back. */
export const callOutput = (item: Item): string => (onlyWhy(item) ? item.text : item.text.slice(asked(item).length + 1));

/** The last lines of a text. */
export function lastLines(text: string, most: number): string {
  const lines = text.trimEnd().split("\n");
  return lines.slice(-most).join("\n");
}
