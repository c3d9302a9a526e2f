// Which words a query means, and where they match. Pure.

/** Whether every word of the query is somewhere in the text. */
export function anyOf(text: string, query: string): boolean {
  const low = text.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => low.includes(word));
}

export type Piece = { text: string; hit: boolean };

/** The text in pieces, with the first place of each word of the query marked. */
export function marked(text: string, query: string): Piece[] {
  const low = text.toLowerCase();
  // Lower case may have another length in some scripts; then nothing is marked.
  if (query === "" || low.length !== text.length) return [{ text, hit: false }];
  const spans = query.toLowerCase().split(/\s+/).map((word) => [low.indexOf(word), word.length] as const).filter(([at, size]) => at >= 0 && size > 0).sort((a, b) => a[0] - b[0]);
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
