// A journal that cannot be read to its end, in words: what is shown of it, and why no more. Pure.

export type Harm = { newer: boolean; title: string; words: string; why: string; repair: string | null };

/** What is wrong with a flow's journal, if anything is: the reader says it in one text for each finding. */
export function harmOf(found: readonly string[], flow = ""): Harm | null {
  // A loss that is repaired by now has other words.
  const why = found.find((one) => one.startsWith("the journal is damaged"));
  if (why === undefined) return null;
  const newer = found.some((one) => one.includes("newer version"));
  const after = /at record (\d+)/.exec(why)?.[1];
  const upto = after === undefined || after === "1" ? "None of it can be shown" : `Events after ${(Number(after) - 1).toLocaleString("en")} are unreadable. The rest is shown, read-only`;
  return newer
    ? { newer, title: "Written by a newer version", words: `${upto}. Open it with that version.`, why: found.join(" "), repair: null }
    : { newer, title: "Its journal is damaged", words: `${upto}.`, why: found.join(" "), repair: `a-society repair ${flow}`.trim() };
}
