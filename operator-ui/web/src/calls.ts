// A tool item's text begins with what was asked, and goes on with what came back. Pure.
import { CALL_END, CUT_OFF, exitCode, exitSignal } from "./said/calls";
import { FAILED } from "./said/status";
import type { CallEnd, Item, Task } from "./wire";

const EDIT = /^(edit|write|replace|patch)(_\w+)? /;
/** What tools do whose names do not say it first. */
const TOOL_VERB: Record<string, string> = { apply_patch: "patch " };
/** Whether a call was refused before anything was done: its text is only why. */
const onlyWhy = (item: Item): boolean => item.type === "tool-error" && item.tool !== null && (EDIT.test(`${item.tool} `) || item.tool in TOOL_VERB) && !EDIT.test(item.text);

/** The files that a refused call names, which its text does not. */
const named = (item: Item): string | null => (item.files === undefined ? null : item.files.map((file) => file.path).join(", "));

/** What was asked, on one line: a command or a file as it is, since the sign in front says what is done with it. */
export function callLine(item: Item, kind: "edit" | "run" | "call"): string {
  const line = item.text.split("\n", 1)[0] ?? "";
  if (onlyWhy(item)) return named(item) ?? item.tool ?? item.label;
  if (line === "") return item.tool ?? item.label;
  if (item.tasks !== undefined) return listWords(item.tasks);
  if (kind === "run") return commandOf(line) ?? line.replace(/^run /, "");
  if (kind !== "edit") return line;
  const file = line.replace(EDIT, "");
  // Each of several has a row of its own.
  if (item.files !== undefined) return file.replace(/: .*/, "");
  // The line counts, where they are known, replace the note at the end.
  return item.added === null && item.removed === null ? file : file.replace(/, (1 place|\d+ places)$| \(\d+ bytes\)$/, "");
}

/** How far a task list is, and what is being done. */
export function listWords(tasks: readonly Task[]): string {
  const now = tasks.find((task) => task.state === "in_progress");
  return `${doneWords(tasks)}${now === undefined ? "" : `, now: ${now.text}`}`;
}
export const doneWords = (tasks: readonly Task[]): string => `${tasks.filter((task) => task.state === "done").length} of ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"} done`;

/** The command of a call whose line holds its arguments. */
function commandOf(line: string): string | null {
  if (!line.startsWith("run_command {")) return null;
  try {
    const given = JSON.parse(line.slice("run_command ".length)) as { command?: unknown };
    return typeof given.command === "string" ? given.command.replace(/\s+/g, " ").trim() : null;
  } catch {
    // It was shortened.
    return null;
  }
}

/** What is done, for those who do not see the sign. */
export function callVerb(item: Item, kind: "edit" | "run" | "call"): string {
  if (kind === "call" || (onlyWhy(item) && named(item) === null)) return "";
  return /^(run|edit|write|replace|patch) /.exec(item.text)?.[0] ?? TOOL_VERB[item.tool ?? ""] ?? `${item.tool?.replace(/_.*/, "") ?? kind} `;
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
export function callOutput(item: Item): string {
  if (onlyWhy(item)) return item.text;
  const at = item.text.indexOf("\n");
  return at < 0 ? "" : item.text.slice(at + 1);
}

/** The last lines of a text. */
export function lastLines(text: string, most: number): string {
  const lines = text.trimEnd().split("\n");
  return lines.slice(-most).join("\n");
}
