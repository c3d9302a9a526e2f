// The line between a page and the real server: it can be cut, be slow with some of what goes over it, or refuse a while; and what the
// page sent can be read. Nothing on it is changed, and nothing comes from elsewhere.
const keyOf = (topic) => (topic.topic === "inbox" ? "inbox" : `${topic.topic} ${topic.flow.flow}`);

export class Line {
  /** The commands that the page sent, each once by the name it gave it, in the order in which they left the page. */
  sent = [];
  #open = new Set();
  #refuses = false;
  #slow = [];
  #late = [];
  #held = null;

  /** Lays the line of a page that has loaded nothing yet. */
  static async of(page) {
    const line = new Line();
    await page.routeWebSocket(/\/api\//, (socket) => line.#socket(socket));
    await page.route(/\/api\//, (route) => line.#request(route));
    return line;
  }
  /** Ends what is open. Nothing new is let through until the line is mended. */
  cut() {
    this.#refuses = true;
    this.drop();
  }
  /** Ends what is open; the page may come back at once. */
  drop() {
    this.#late = this.#late.filter((one) => one.socket === undefined);
    for (const { page, server } of this.#open) {
      void page.close();
      void server.close();
    }
    this.#open.clear();
  }
  mend() {
    this.#refuses = false;
  }
  /** What asks for these topics (`inbox`, `flow`, `feed`, each perhaps with an id), or for an address with one of these parts, does not
   * reach the server before `speak`. */
  mute(...what) {
    this.#slow = what;
  }
  speak() {
    this.#slow = [];
    for (const { go } of this.#late.splice(0)) go();
  }
  /** Commands do not reach the server before `release`. */
  hold() {
    this.#held = [];
  }
  release() {
    for (const go of (this.#held ?? []).splice(0)) go();
    this.#held = null;
  }

  #isSlow(name) {
    return this.#slow.some((part) => name.startsWith(part));
  }
  #socket(page) {
    if (this.#refuses) return void page.close();
    const both = { page, server: page.connectToServer() };
    this.#open.add(both);
    page.onMessage((said) => {
      const up = JSON.parse(said);
      const go = () => both.server.send(said);
      if (up.t === "do") {
        if (!this.sent.some((one) => one.cmd === up.cmd)) this.sent.push(up);
        if (this.#held !== null) return void this.#held.push(go);
      }
      if (up.t === "sub" && this.#isSlow(keyOf(up.topic))) return void this.#late.push({ socket: both, go });
      go();
    });
  }
  async #request(route) {
    if (this.#refuses) return route.abort();
    const { pathname } = new URL(route.request().url());
    if (this.#slow.some((part) => part.startsWith("/") && pathname.includes(part))) return void this.#late.push({ go: () => void route.continue().catch(() => undefined) });
    return route.continue();
  }
}
/** What decides something, of all that the page sent. */
export const decided = (line) => line.sent.map((up) => up.command).filter((command) => command.do !== "steer");
