// Begins the page: exchanges the token of the address for a cookie, connects, and draws.
import { mount } from "svelte";
import App from "./App.svelte";
import { post } from "./api";
import { restyle } from "./fetched";
import { look } from "./look.svelte";
import { nav } from "./nav.svelte";
import { store } from "./store.svelte";
import "./styles/tokens.css";
import "./styles/base.css";

/** `a-society serve` prints an address that ends so; the fragment never leaves the browser by itself. */
const TOKEN = /^#token=(.+)$/;

/** Whether there was a token, and it is good. */
async function signIn(): Promise<boolean> {
  const token = TOKEN.exec(location.hash)?.[1];
  if (token === undefined) return false;
  nav.replace(location.pathname + location.search);
  try {
    await post("/api/session", { token });
    return true;
  } catch {
    // An old address does no harm to a page that is connected.
    store.locked = store.line.state !== "open";
    return false;
  }
}

addEventListener("error", restyle, true);
look.apply();
nav.start();
const target = document.getElementById("app");
if (target !== null) {
  // The screen that is opened most comes while the token is exchanged; where it cannot, its place says why.
  if (nav.route.page === "inbox" || nav.route.page === "home") import("./routes/Inbox.svelte").catch(() => undefined);
  await signIn();
  store.start();
  // The address of the next start may differ in nothing else, and then the browser loads nothing.
  addEventListener("hashchange", () => void signIn().then((signed) => { if (signed) store.retry(); }));
  mount(App, { target });
}
