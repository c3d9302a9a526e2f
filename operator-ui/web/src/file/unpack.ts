// The data of a file: packed, and written in letters that mean nothing to a browser.

/** What was packed, as text. */
export async function unpacked(packed: string): Promise<string> {
  const letters = atob(packed.trim());
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}
