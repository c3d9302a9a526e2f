// Begins the page in a file: reads what it holds, and draws.
import { mount } from "svelte";
import { look } from "../look.svelte";
import { nav } from "../nav.svelte";
import { store } from "../store.svelte";
import "../styles/tokens.css";
import "../styles/base.css";
import { load } from "./backend";
import Shell from "./Shell.svelte";

const target = document.getElementById("app");
if (target !== null) {
  const data = await load();
  look.apply();
  nav.start();
  store.start();
  mount(Shell, { target, props: { data } });
}
