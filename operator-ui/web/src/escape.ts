// Text that is decided about, with nothing in it that cannot be seen. Pure.

export type Piece = { text: string; hidden: boolean };

// Controls, formats (zero width, direction marks, tags), separators that are no plain space, private and unassigned
// characters, lone surrogates, and fillers that are drawn as nothing. A line feed and a tab stay: the layout shows them.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?! )\p{Zs}/gu;

/** A text in pieces; the hidden ones are written as `\u{202e}`. */
export function visible(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].codePointAt(0) ?? 0;
    if (code === 0x0a || code === 0x09) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), hidden: false });
    pieces.push({ text: code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`, hidden: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hidden: false });
  return pieces;
}

/** Whether a text holds anything that would not be seen. */
export const hides = (text: string): boolean => visible(text).some((piece) => piece.hidden);

/** Whether bytes that came as a text are one: a picture has zeros in it, or much that is no character. */
export const isText = (told: string): boolean => !told.includes("\0") && told.split("\uFFFD").length * 50 <= told.length + 100;
