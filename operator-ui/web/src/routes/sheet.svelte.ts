// Where the window has no room for a feed beside the graph, the feed is a sheet over it.
import { MediaQuery } from "svelte/reactivity";

export const sheet = new MediaQuery("(max-width: 859px)");
