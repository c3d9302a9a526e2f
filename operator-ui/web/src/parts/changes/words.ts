// The state of a proposed change, in the words of its buttons; and which file a finding may mean. Pure.
import type { Stands } from "../../wire";

export const STANDS: Record<Stands, string> = { open: "Open", "said-already": "Open", "file-changed": "Open, the file changed", applied: "Applied", declined: "Declined" };

/** Whether the operator still has to decide about it. */
export const waits = (stands: Stands): boolean => stands !== "applied" && stands !== "declined";

/** The file that a finding means first: the longest path in its text, else one of that name. */
export function meant(text: string, files: readonly string[]): string | null {
  const within = (needle: string): number => text.indexOf(needle);
  const found = files
    .flatMap((path) => [path, path.replace(/^a-docs\//, "")].map((needle) => ({ path, needle, at: within(needle) })))
    .filter((one) => one.at >= 0)
    .sort((a, b) => a.at - b.at || b.needle.length - a.needle.length);
  if (found[0] !== undefined) return found[0].path;
  const name = (path: string): string => path.split("/").at(-1) ?? path;
  return files.find((path) => within(name(path)) >= 0) ?? null;
}
