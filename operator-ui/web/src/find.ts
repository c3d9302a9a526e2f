// Which words a query means, and where they match. Pure.

/** Whether every word of the query is somewhere in the text. */
export function anyOf(text: string, query: string): boolean {
  const low = text.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => low.includes(word));
}

export type Piece = { text: string; hit: boolean };

/** A shorter word is in every text: marking it says nothing. */
const LEAST = 2;
const LETTER = /[\p{L}\p{N}_]/u;

/** Where a text has a word by itself, or else where one of its words begins with it; -1 if neither. Never within a word. */
function wordAt(text: string, word: string): number {
  // A sign at an edge of what was typed is an edge already.
  const bound = (a: string | undefined, b: string | undefined): boolean => a === undefined || b === undefined || !LETTER.test(a) || !LETTER.test(b);
  let begins = -1;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!bound(text[at - 1], word[0])) continue;
    if (bound(word.at(-1), text[at + word.length])) return at;
    if (begins < 0) begins = at;
  }
  return begins;
}

/** The text in pieces, with one place of each word of the query marked. */
export function marked(text: string, query: string): Piece[] {
  const low = text.toLowerCase();
  // Lower case may have another length in some scripts; then nothing is marked.
  if (query === "" || low.length !== text.length) return [{ text, hit: false }];
  const spans = query.toLowerCase().split(/\s+/).filter((word) => word.length >= LEAST).map((word) => [wordAt(low, word), word.length] as const).filter(([at, size]) => at >= 0 && size > 0).sort((a, b) => a[0] - b[0]);
  const pieces: Piece[] = [];
  let from = 0;
  for (const [at, size] of spans) {
    if (at < from) continue;
    if (at > from) pieces.push({ text: text.slice(from, at), hit: false });
    pieces.push({ text: text.slice(at, at + size), hit: true });
    from = at + size;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}
