// Lays colours over code that is on the page. Nothing in the page is changed, so nothing that a code says can do anything.
import "./colours.css";
import { spotsOf, type Kind } from "./read";

/** More lines than are looked at at once: those behind them stay as they are. */
const LINES_MAX = 3_000;
const KINDS: readonly Kind[] = ["note", "text", "number", "word"];

function layer(kind: Kind): Highlight {
  const name = `code-${kind}`;
  let found = CSS.highlights.get(name);
  if (found === undefined) CSS.highlights.set(name, (found = new Highlight()));
  return found;
}

/** Colours the code of an element: each part of it that is a code by itself, such as a line, or all of it. */
export function paint(element: Element, language: string): () => void {
  const laid: [Highlight, AbstractRange][] = [];
  const lines = element.querySelectorAll("code");
  for (const code of lines.length > 0 ? [...lines].slice(0, LINES_MAX) : [element]) {
    const nodes: Text[] = [];
    const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) nodes.push(node as Text);
    const spots = spotsOf(nodes.map((node) => node.data).join(""), language);
    let [at, start] = [0, 0];
    const placeOf = (offset: number): [Text, number] | null => {
      for (let node = nodes[at]; node !== undefined; node = nodes[at]) {
        if (offset <= start + node.length) return [node, offset - start];
        start += node.length;
        at += 1;
      }
      return null;
    };
    for (const spot of spots) {
      const [from, to] = [placeOf(spot.from), placeOf(spot.to)];
      if (from === null || to === null) break;
      const range = new StaticRange({ startContainer: from[0], startOffset: from[1], endContainer: to[0], endOffset: to[1] });
      const over = layer(spot.kind);
      over.add(range);
      laid.push([over, range]);
    }
  }
  return () => { for (const [over, range] of laid) over.delete(range); };
}

/** How much is coloured now, by kind. */
export const painted = (): Record<string, number> => Object.fromEntries(KINDS.map((kind) => [kind, CSS.highlights.get(`code-${kind}`)?.size ?? 0]));
