// Parts of the page that are fetched when they are first needed. One that cannot be, since the server is away, is fetched
// again whenever the line changes, until it is there.
import { store } from "./store.svelte";

/** The styles that are fetched again, by their addresses: the build's own loader asks for each once. */
const styles = new Map<string, Promise<void>>();

async function tried<T>(load: () => Promise<T>, failed?: (error: unknown) => void): Promise<T> {
  for (;;) {
    // A change while it is being fetched counts, too: there may be no later one.
    const changed = store.lineChange();
    try {
      // A browser keeps the failure of a module for as long as the page lives, so it is asked for none that cannot be had.
      if (store.line.state === "lost") await fetch("/favicon.svg", { method: "HEAD", cache: "no-store" });
      return await load();
    } catch (error) {
      failed?.(error);
      await changed;
    }
  }
}

/** Fetches a part and what it looks like; `failed` is called each time that this did not work. */
export async function fetched<T>(load: () => Promise<T>, failed?: (error: unknown) => void): Promise<T> {
  const part = await tried(load, failed);
  await Promise.all(styles.values());
  return part;
}

/** Fetches a style that could not be fetched, until it is there. */
export function restyle({ target }: Event): void {
  if (!(target instanceof HTMLLinkElement) || target.rel !== "stylesheet") return;
  target.remove();
  const { href } = target;
  if (styles.has(href)) return;
  styles.set(href, tried(() => new Promise<void>((done, fail) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: () => done(), onerror: fail });
    document.head.append(link);
  })).then(() => void styles.delete(href)));
}
