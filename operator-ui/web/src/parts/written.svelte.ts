// Parts that the first screen needs in some cases only. Once one is loaded it is there at once wherever it is used.
import type { Component } from "svelte";
import { fetched } from "../fetched";
import type DiffShown from "./DiffShown.svelte";
import type Markdown from "./Markdown.svelte";

class Part<C extends Component<never>> {
  part = $state.raw<C | null>(null);
  #asked = false;
  readonly #get: () => Promise<{ default: C }>;
  constructor(get: () => Promise<{ default: C }>) {
    this.#get = get;
  }
  load(): void {
    if (this.#asked) return;
    this.#asked = true;
    void fetched(this.#get).then((module) => { this.part = module.default; });
  }
}

/** What reads Markdown. Until it is there the text stays as it was written. */
export const reader = new Part<typeof Markdown>(() => import("./Markdown.svelte"));
/** What shows a difference. */
export const differ = new Part<typeof DiffShown>(() => import("./DiffShown.svelte"));
