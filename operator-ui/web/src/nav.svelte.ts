// Where the page is. One place reads and writes the address bar.
import { PREFIX, place } from "./backend";
import { href, parse, type Route } from "./router";

class Nav {
  route = $state.raw<Route>(parse(place()));

  /** Begins to follow the address bar and clicks on our own links. Called once. */
  start(): void {
    this.route = parse(place());
    addEventListener("popstate", () => (this.route = parse(place())));
    document.addEventListener("click", (event) => this.#clicked(event));
  }

  /** Goes to a place; the back button returns. */
  go(to: Route | string): void {
    const address = typeof to === "string" ? to : href(to);
    if (address !== (PREFIX === "" ? location.pathname + location.search : "") + location.hash) history.pushState(null, "", address);
    this.route = parse(place());
  }

  /** Changes the address without a step of history. */
  replace(to: Route | string): void {
    history.replaceState(null, "", typeof to === "string" ? to : href(to));
    this.route = parse(place());
  }

  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    this.go((PREFIX === "" ? link.pathname + link.search : "") + link.hash);
  }
}

export const nav = new Nav();
