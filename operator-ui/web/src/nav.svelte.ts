// Where the page is. One place reads and writes the address bar.
import { href, parse, type Route } from "./router";

class Nav {
  route = $state.raw<Route>(parse(location));

  /** Begins to follow the address bar and clicks on our own links. Called once. */
  start(): void {
    addEventListener("popstate", () => (this.route = parse(location)));
    document.addEventListener("click", (event) => this.#clicked(event));
  }

  /** Goes to a place; the back button returns. */
  go(to: Route | string): void {
    const address = typeof to === "string" ? to : href(to);
    if (address !== location.pathname + location.search + location.hash) history.pushState(null, "", address);
    this.route = parse(location);
  }

  /** Changes the address without a step of history. */
  replace(to: Route | string): void {
    history.replaceState(null, "", typeof to === "string" ? to : href(to));
    this.route = parse(location);
  }

  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    this.go(link.pathname + link.search + link.hash);
  }
}

export const nav = new Nav();
