// What reads Markdown, once it is loaded: the first screen has no text for it in most cases.
import { fetched } from "../fetched";
import type Markdown from "./Markdown.svelte";

let part = $state.raw<typeof Markdown | null>(null);
let asked = false;

export const reader = {
  get part() { return part; },
  /** Until it is there the text stays as it was written. */
  load(): void {
    if (asked) return;
    asked = true;
    void fetched(() => import("./Markdown.svelte")).then((module) => { part = module.default; });
  },
};
