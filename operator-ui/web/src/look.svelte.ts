// How the page looks and listens on this machine. Kept by the browser, never sent.

export type Theme = "system" | "light" | "dark";
export type Density = "comfortable" | "compact";

const KEY = "a-society.look";
/** The feed beside the graph, in pixels. */
export const FEED_WIDTH = { least: 380, first: 456, most: 720 } as const;

type Kept = { theme: Theme; density: Density; singleKeys: boolean; feedWidth: number; feedFolded: boolean; notify: boolean };
const FIRST: Kept = { theme: "system", density: "comfortable", singleKeys: true, feedWidth: FEED_WIDTH.first, feedFolded: false, notify: false };

function read(): Kept {
  try {
    return { ...FIRST, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Kept>) };
  } catch {
    return FIRST;
  }
}

class Look {
  #kept = $state<Kept>(read());
  get theme(): Theme { return this.#kept.theme; }
  get density(): Density { return this.#kept.density; }
  /** Whether single letters are commands. */
  get singleKeys(): boolean { return this.#kept.singleKeys; }
  get feedWidth(): number { return this.#kept.feedWidth; }
  /** Whether the feed comes only when it is asked for. */
  get feedFolded(): boolean { return this.#kept.feedFolded; }
  get notify(): boolean { return this.#kept.notify; }

  set(change: Partial<Kept>): void {
    Object.assign(this.#kept, change);
    this.#kept.feedWidth = Math.max(FEED_WIDTH.least, Math.min(FEED_WIDTH.most, this.#kept.feedWidth));
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#kept));
    } catch {
      // A browser that keeps nothing shows the look until it is closed.
    }
    this.apply();
  }

  /** Writes the choice where the style sheet reads it. */
  apply(): void {
    const root = document.documentElement.dataset;
    if (this.theme === "system") delete root.theme;
    else root.theme = this.theme;
    root.density = this.density;
  }

  /** The theme after this one, for the button that goes around. */
  nextTheme(): Theme {
    return this.theme === "system" ? "light" : this.theme === "light" ? "dark" : "system";
  }
}

export const look = new Look();
