// Feed items as the rows that are shown: runs of reads become one line, failures never disappear in one. Pure.
import { HANDED_OVER, SENT_BACK } from "./said/handoffs";
import { allowedBy, allowedForFlowBy, deniedBy } from "./said/permissions";
import { capital } from "./words";
import type { Item } from "./wire";

export type Row =
  | { key: string; kind: "say" | "you" | "think" | "edit" | "run" | "call" | "handoff" | "divider" | "notice" | "repair" | "error" | "ask" | "setup" | "compaction"; item: Item }
  | { key: string; kind: "group"; items: Item[] };

const READS = new Set(["read_file", "list_directory", "search", "search_files", "find_files", "grep", "glob", "read", "list"]);
const EDITS = new Set(["edit_file", "write_file", "apply_patch", "edit", "write"]);
const RUNS = new Set(["run_command", "run", "command"]);

const isTool = (item: Item): boolean => item.type === "tool" || item.type === "tool-success" || item.type === "tool-error";
const collapses = (item: Item): boolean => item.type === "tool-success" && item.tool !== null && READS.has(item.tool) && !item.interrupted;

/** What an item is shown as. */
export function kindOf(item: Item): Exclude<Row["kind"], "group"> {
  if (isTool(item)) {
    if (item.tool !== null && EDITS.has(item.tool)) return "edit";
    return item.tool !== null && RUNS.has(item.tool) ? "run" : "call";
  }
  switch (item.type) {
    case "assistant": return "say";
    case "user": return "you";
    case "reasoning": return "think";
    case "error": return "error";
    case "repair": return "repair";
    case "handoff": return "handoff";
    case "resume": case "activation": return "divider";
    case "event": return kindOfEvent(item.event ?? "");
    case "tool": case "tool-success": case "tool-error": return "call";
  }
}

function kindOfEvent(event: string): Exclude<Row["kind"], "group"> {
  if (event.startsWith("consent.") || event.startsWith("human.")) return "ask";
  if (event.startsWith("session.comp")) return "compaction";
  if (event === "role.configured") return "setup";
  return "notice";
}

/** A line that repeats another one: that a turn without a token count ended. */
export const saysNothingNew = (item: Item): boolean => item.event === "turn.ended";

/** The rows of a feed. A group keeps the key of its first item, so that it grows in place. */
export const rowsOf = (items: readonly Item[]): readonly Row[] => new Rows().of(items);

/**
 * The rows of a feed that changes: what precedes the first changed item is kept, down to the very
 * objects, and only the rest is made. Feeds change at their end, so a change costs what is new, not what there is.
 */
export class Rows {
  #items: readonly Item[] = [];
  #rows: readonly Row[] = [];
  /** Where in the items each row begins. */
  #starts: number[] = [];
  #newest = -1;
  #list = -1;

  /** The newest edit: it is shown open, the ones before it are one line. */
  get newest(): string | null {
    return this.#items[this.#newest]?.id ?? null;
  }

  /** The newest task list, which is shown open, too. */
  get list(): string | null {
    return this.#items[this.#list]?.id ?? null;
  }

  of(items: readonly Item[]): readonly Row[] {
    const same = sameUpTo(this.#items, items);
    if (same === items.length && same === this.#items.length) return this.#rows;
    this.#newest = newest(items, same, this.#newest, (item) => item.type === "tool-success" && item.tool !== null && EDITS.has(item.tool));
    this.#list = newest(items, same, this.#list, (item) => item.tasks !== undefined && !item.pending);
    this.#items = items;
    let keep = this.#starts.length;
    while (keep > 0 && (this.#starts[keep - 1] ?? 0) >= same) keep -= 1;
    // A run of reads at the end may go on.
    const open = this.#rows[keep - 1];
    let from = same;
    if (open !== undefined && (open.kind === "group" || collapses(open.item))) {
      keep -= 1;
      from = this.#starts[keep] ?? 0;
    }
    const rows = this.#rows.slice(0, keep);
    this.#starts.length = keep;
    for (let at = from; at < items.length; ) at = this.#next(items, at, rows);
    const again = rows[keep];
    if (open !== undefined && again !== undefined && sameGroup(open, again)) rows[keep] = open;
    this.#rows = rows;
    return rows;
  }

  /** Makes the row that begins here, and says where the next one may. */
  #next(items: readonly Item[], at: number, rows: Row[]): number {
    const first = items[at];
    if (first === undefined || saysNothingNew(first)) return at + 1;
    this.#starts.push(at);
    if (!collapses(first)) {
      rows.push({ key: first.id, kind: kindOf(first), item: first });
      return at + 1;
    }
    const run = [first];
    let end = at + 1;
    for (let item = items[end]; item !== undefined; item = items[end]) {
      if (collapses(item)) run.push(item);
      else if (!saysNothingNew(item)) break;
      end += 1;
    }
    rows.push(run.length === 1 ? { key: first.id, kind: kindOf(first), item: first } : { key: first.id, kind: "group", items: run });
    return end;
  }
}

/** How many items at the beginning of two lists are the very same objects. */
function sameUpTo(before: readonly Item[], now: readonly Item[]): number {
  const most = Math.min(before.length, now.length);
  let at = 0;
  while (at < most && before[at] === now[at]) at += 1;
  return at;
}

function sameGroup(one: Row, other: Row): boolean {
  if (one.kind === "group") return other.kind === "group" && one.items.length === other.items.length && sameUpTo(one.items, other.items) === one.items.length;
  return other.kind !== "group" && one.item === other.item;
}

/** "Read 7 files, searched 3 times" */
export function groupWords(items: readonly Item[]): string {
  const reads = items.filter((item) => item.tool === "read_file" || item.tool === "read").length;
  const lists = items.filter((item) => item.tool === "list_directory" || item.tool === "list").length;
  const searches = items.length - reads - lists;
  const parts: string[] = [];
  if (reads > 0) parts.push(`read ${reads} ${reads === 1 ? "file" : "files"}`);
  if (lists > 0) parts.push(`listed ${lists} ${lists === 1 ? "folder" : "folders"}`);
  if (searches > 0) parts.push(`searched ${searches} ${searches === 1 ? "time" : "times"}`);
  const words = parts.join(", ");
  return capital(words);
}

/** Where the newest item of a kind is, when nothing before `same` has changed since it was at `was`. */
function newest(items: readonly Item[], same: number, was: number, is: (item: Item) => boolean): number {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    if (at < same && was < same) return was;
    const item = items[at];
    if (item !== undefined && is(item)) return at;
  }
  return -1;
}

/** The sequence number that an item's address names. */
export const anchor = (row: Row): number => (row.kind === "group" ? (row.items[0]?.first ?? 0) : row.item.first);
export const lastSeq = (row: Row): number => (row.kind === "group" ? (row.items.at(-1)?.seq ?? 0) : row.item.seq);

/** The row that holds an event: the last that began at or before it. Rows are in order, so this halves. */
export function rowAt(rows: readonly Row[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && anchor(row) <= seq) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** A request for consent, or the answer to one, as a line: the outcome and the subject. */
export function consentLine(item: Item): { icon: "question" | "check" | "close"; words: string; about: string } | null {
  const { consent } = item;
  if (consent === undefined) return null;
  const { about, by = "you" } = consent;
  switch (consent.answer) {
    case null: return { icon: "question", words: "Asked you", about };
    case "allow_once": return { icon: "check", words: capital(allowedBy(by)), about };
    case "allow_flow": return { icon: "check", words: capital(allowedForFlowBy(by)), about };
    case "deny": return { icon: "close", words: capital(deniedBy(by)), about };
    case "withdrawn": return { icon: "close", words: item.label, about };
  }
}

/** The error of a failed request, and the time of its retry, if there is one. */
export function failureLine(item: Item): { words: string; until: number | null } {
  return { words: item.text, until: item.again_at === undefined ? null : Date.parse(item.again_at) };
}

/** A handoff of one artifact as a sentence; one of several stays a list. */
export function handOff(item: Item): { words: string; back: boolean } | null {
  const [only, more] = item.deliveries ?? [];
  if (only === undefined || more !== undefined) return null;
  return { words: `${capital(only.back ? SENT_BACK : HANDED_OVER)} to ${only.to}: ${only.path}`, back: only.back };
}
