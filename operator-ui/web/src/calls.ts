// A tool item's text begins with what was asked, and goes on with what came back. Pure.
import type { Item } from "./wire";

/** What was asked, on one line: a command as it is, anything else without its verb doubled. */
export function callLine(item: Item): string {
  const line = item.text.split("\n", 1)[0] ?? "";
  return line === "" ? (item.tool ?? item.label) : line;
}

/** What came back. */
export function callOutput(item: Item): string {
  const at = item.text.indexOf("\n");
  return at < 0 ? "" : item.text.slice(at + 1);
}

/** The last lines of a text. */
export function lastLines(text: string, most: number): string {
  const lines = text.trimEnd().split("\n");
  return lines.slice(-most).join("\n");
}
