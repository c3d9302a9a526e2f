// JSON as lines of coloured words. Pure; what is longer than a screen can use is cut and says so.

export type Word = { text: string; kind: "key" | "string" | "number" | "mark" | "note" };
export type JsonLine = { indent: number; words: Word[] };

/** Lines that are drawn: nothing longer is readable in one message. */
const LINES = 5000;
/** Characters of one string that are drawn. */
const LONG = 40_000;

const word = (text: string, kind: Word["kind"]): Word => ({ text, kind });

export function jsonLines(value: unknown): { lines: JsonLine[]; cut: boolean } {
  const lines: JsonLine[] = [];
  let cut = false;
  const plain = (v: unknown): Word => {
    if (typeof v === "string") {
      const text = JSON.stringify(v);
      if (text.length <= LONG) return word(text, "string");
      cut = true;
      return word(`${text.slice(0, LONG)}…`, "string");
    }
    if (typeof v === "number" || typeof v === "boolean" || v === null) return word(String(v), "number");
    return word(String(v), "mark");
  };
  const put = (v: unknown, indent: number, before: Word[], after: string): void => {
    if (lines.length >= LINES) {
      cut = true;
      return;
    }
    const tail = after === "" ? [] : [word(after, "mark")];
    if (typeof v !== "object" || v === null) {
      lines.push({ indent, words: [...before, plain(v), ...tail] });
      return;
    }
    const list = Array.isArray(v);
    const entries = list ? v.map((one: unknown, i) => [String(i), one] as const) : Object.entries(v);
    const [open, close] = list ? ["[", "]"] : ["{", "}"];
    if (entries.length === 0) {
      lines.push({ indent, words: [...before, word(`${open}${close}`, "mark"), ...tail] });
      return;
    }
    lines.push({ indent, words: [...before, word(open, "mark")] });
    entries.forEach(([key, one], i) => {
      const comma = i + 1 < entries.length ? "," : "";
      put(one, indent + 1, list ? [] : [word(JSON.stringify(key), "key"), word(": ", "mark")], comma);
    });
    lines.push({ indent, words: [word(close, "mark"), ...tail] });
  };
  put(value, 0, [], "");
  return { lines, cut };
}
