// What a feed keeps of the runtime's own acts, in the words of the page. The journal's views keep theirs for ever. Pure.
import type { Item } from "./wire";

const SUMMARY = /^(\S+) tokens in(?:, of which (\S+) cached)?, (\S+) out(?:; the window holds (\S+))?$/;
const AGAIN = /^(\S+) takes (\S+) up again, because work came back$/;
const REPLACED = /^A summary stands in place of (\d+) tokens; the history is archived$/;
const LABELS: Record<string, string> = {
  "Turn over": "Turn finished",
  "Turn over, waiting": "Turn paused",
  "Handoff waits for your word": "Waiting for your approval",
  "Consent mode": "Permissions",
  "Waits for guidance after a turn that was stopped or failed": "Waits for you: retry, or say what to do",
};
/** Figures of five digits and more are said in thousands. */
const figures = (text: string, short: (n: number) => string): string => text.replace(/\d{4,}/g, (n) => short(Number(n)));

/** The label of an act. */
export const labelOf = (item: Item): string => LABELS[item.label] ?? item.label;

/** The text of an act, without its full stop. */
export function textOf(text: string, short: (n: number) => string): string {
  const bare = text.trim().replace(/\.$/, "");
  const sum = SUMMARY.exec(bare);
  if (sum !== null) {
    const [, all = "", cached, out = "", window] = sum;
    return figures(`${all} in${cached === undefined ? "" : ` (${cached} cached)`}, ${out} out${window === undefined ? "" : ` · context ${window}`}`, short);
  }
  const again = AGAIN.exec(bare);
  if (again !== null) return `Work on ${again[2]} was sent back to ${again[1]}`;
  const replaced = REPLACED.exec(bare);
  if (replaced !== null) return `${Number(replaced[1]).toLocaleString("en")} tokens became a summary. The history is archived`;
  return bare.replace("partial-access: what was allowed is not asked again", "previously allowed actions no longer ask").replace("Choose how the roles reflect", "Run a retrospective?");
}

/** A line that tells an act: what happened, and with what. */
export function actWords(item: Item, line: string, short: (n: number) => string): string {
  return `${labelOf(item)}${item.event === "usage.turn_summary" ? " · " : ": "}${textOf(line, short)}`;
}
