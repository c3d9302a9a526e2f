// Whether the page is as narrow as a phone: some parts are other parts then, not smaller ones.
import { MediaQuery } from "svelte/reactivity";

export const narrow = new MediaQuery("(max-width: 719px)");
