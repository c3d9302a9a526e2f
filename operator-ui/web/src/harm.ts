// A journal that cannot be read to its end, in words: what is shown of it, and why no more. Pure.

export type Harm = { newer: boolean; title: string; words: string; why: string };

/** What is wrong with a flow's journal, if anything is: the reader says it in one text for each finding. */
export function harmOf(found: readonly string[]): Harm | null {
  const [why] = found;
  if (why === undefined) return null;
  const newer = found.some((one) => one.includes("newer version"));
  const after = /at record (\d+)/.exec(why)?.[1];
  const upto = after === undefined || after === "1" ? "Nothing of it can be shown" : `What stands before event ${Number(after).toLocaleString("en")} is shown, and can only be read`;
  return newer
    ? { newer, title: "Written by a newer version", words: `${upto}. Open it with that version.`, why: found.join(" ") }
    : { newer, title: "Its journal is damaged", words: `${upto}. \u201ca-society verify\u201d says where, \u201ca-society repair\u201d what can be done.`, why: found.join(" ") };
}
