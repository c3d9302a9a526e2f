// Begins the page: exchanges the token of the address for a cookie, connects, and draws.
import { mount } from "svelte";
import App from "./App.svelte";
import { post } from "./api";
import { look } from "./look.svelte";
import { nav } from "./nav.svelte";
import { store } from "./store.svelte";
import "./styles/tokens.css";
import "./styles/base.css";

/** `a-society serve` prints an address that ends so; the fragment never leaves the browser by itself. */
const TOKEN = /^#token=(.+)$/;

async function signIn(): Promise<void> {
  const token = TOKEN.exec(location.hash)?.[1];
  if (token === undefined) return;
  nav.replace(location.pathname + location.search);
  try {
    await post("/api/session", { token });
  } catch {
    store.locked = true;
  }
}

look.apply();
nav.start();
const target = document.getElementById("app");
if (target !== null) {
  await signIn();
  store.start();
  mount(App, { target });
}
