// Where the window has no room for a feed beside the view, or the feed was folded away, it is a sheet over it.
import { MediaQuery } from "svelte/reactivity";
import { look } from "../look.svelte";
import type { FlowViewName } from "../router";

const small = new MediaQuery("(max-width: 859px)");
const middle = new MediaQuery("(max-width: 1179px)");
/** What is read line by line wants the room of a feed earlier than a graph does, and so does what has a fifth tab above it. */
const WIDE: readonly FlowViewName[] = ["files", "events", "improve"];

export const sheet = {
  /** Whether the feed is one beside this view. */
  of: (view: FlowViewName): boolean => small.current || look.feedFolded || (middle.current && WIDE.includes(view)),
  /** Whether there would be room for it beside this view. */
  fits: (view: FlowViewName): boolean => !small.current && !(middle.current && WIDE.includes(view)),
};
