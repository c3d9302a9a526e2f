// What reads Markdown, once it is loaded: the first screen has no text for it in most cases.
import type Markdown from "./Markdown.svelte";

let part = $state.raw<typeof Markdown | null>(null);
let asked = false;

export const reader = {
  get part() { return part; },
  /** Where it cannot be loaded the text stays as it was written, and the next one asks again. */
  load(): void {
    if (asked) return;
    asked = true;
    import("./Markdown.svelte").then((module) => { part = module.default; }, () => { asked = false; });
  },
};
