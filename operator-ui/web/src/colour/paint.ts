// Colours a code where it is, once what reads it is loaded. Its text stays as it is: the browser lays the colours over it,
// and one that cannot shows none.
import type { Attachment } from "svelte/attachments";
import { fetched } from "../fetched";

/** Code that a model is still writing is coloured when it rests. */
const REST_MS = 120;

/** Colours the code of an element; `text` is what it shows, so that another one is coloured anew. */
export const painted = (language: string | null, text: unknown): Attachment<Element> => (element) => {
  void text;
  if (language === null || !("highlights" in CSS)) return undefined;
  let here = true;
  let off: (() => void) | undefined;
  const timer = setTimeout(() => { void fetched(() => import("./colours")).then(({ paint }) => { if (here) off = paint(element, language); }); }, REST_MS);
  return () => {
    here = false;
    clearTimeout(timer);
    off?.();
  };
};
