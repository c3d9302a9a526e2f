// A journal that cannot be read to its end, in words: what is shown of it, and why no more. Pure.
import type { FlowRow } from "./wire";

export type Harm = { newer: boolean; title: string; words: string; why: string; repair: string | null };

/** What is wrong with a flow's journal, if it cannot be read to its end. */
export function harmOf(row: Pick<FlowRow, "damage" | "harm"> | undefined, flow = ""): Harm | null {
  const harm = row?.harm;
  if (row === undefined || harm === undefined) return null;
  const upto = harm.record <= 1 ? "None of it can be shown" : `Events after ${(harm.record - 1).toLocaleString("en")} are unreadable. The rest is shown, read-only`;
  const why = row.damage.join(" ");
  return harm.newer
    ? { newer: true, title: "Written by a newer version", words: `${upto}. Open it with that version.`, why, repair: null }
    : { newer: false, title: "Its journal is damaged", words: `${upto}.`, why, repair: `a-society repair ${flow}`.trim() };
}
