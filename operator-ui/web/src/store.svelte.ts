// What the page knows: one view for each topic that is watched, the state of the line, and what waits to be sent.
import { inOrder } from "./asks";
import { flowApi, get, itemBody, Refused } from "./api";
import { openSocket } from "./backend";
import { keepRail, railBefore } from "./before";
import { foldFeed, foldFlow, foldInbox, foldOlder } from "./fold";
import { harmOf, type Harm } from "./harm";
import { Net, type Ack, type Hello, type Line, type News, type Waiting } from "./net";
import { restOf } from "./pace";
import { tails } from "./rail";
import { refKey } from "./router";
import { tailAfter, type Tail } from "./tail";
import { inSentences } from "./words";
import { PROTO } from "./wire";
import type { Command, Fault, FeedState, FlowRef, FlowRow, FlowState, InboxState, Item, Part, Topic } from "./wire";

/** Topics kept after their last view is gone, so that going back shows them at once. */
const KEPT = 24;
/** A break shorter than this is not announced. */
const WORTH_A_WORD_MS = 1_500;
/** Items asked for at first, and in each older page as the reader comes near it. */
const FEED_WINDOW = 200;
/** Items in each page on the way to a place far back: as many as the server gives at once. */
export const FAR_WINDOW = 1_000;

const NOTHING: InboxState["asks"] = {};

/** One watched topic. `state` is null until the first snapshot. */
export class View<S> {
  state = $state.raw<S | null>(null);
  /** The journal is folded up to here. */
  seq = $state(0);
  /** The journal's end as the server last sent it. */
  head = $state(0);
  caughtUp = $state(false);
  gone = $state<string | null>(null);
  epoch: string | null = null;
  watchers = 0;
  end: (() => void) | null = null;
}

/** One watched feed, with the text that is being written. */
export class FeedView extends View<FeedState> {
  tails = $state.raw<ReadonlyMap<string, Tail>>(new Map());
  loadingOlder = $state(false);
  older: Promise<void> | null = null;
}

export type Told = { id: number; fault: Fault };

class Store {
  hello = $state.raw<Hello | null>(null);
  line = $state.raw<Line>({ state: "connecting" });
  /** The line has been away long enough to be worth a word. */
  away = $state(false);
  waiting = $state.raw<readonly Waiting[]>([]);
  holes = $state(0);
  /** The flows that the rail showed when this tab was left, until the list arrives. */
  before = $state.raw<readonly FlowRow[]>(railBefore()?.rows ?? []);
  /** The server does not know this browser: it wants the address that `serve` printed. */
  locked = $state(false);
  /** The program that answers now, when this page is not the one it brings; `understood` while both still speak the same. */
  replaced = $state.raw<{ build: string; came: string | null; understood: boolean } | null>(null);
  errors = $state.raw<readonly Told[]>([]);
  readonly inbox = new View<InboxState>();
  // Two steps, so that a flow's row, which changes often, sorts no asks.
  #open = $derived(this.inbox.state?.asks ?? NOTHING);
  /** Everything that waits, in the order of the inbox. */
  readonly asks = $derived(inOrder(Object.values(this.#open)));

  readonly #tails = $derived(tails(this.inbox.state === null ? this.before : Object.values(this.inbox.state.flows)));

  #flows = new Map<string, View<FlowState>>();
  /** How many first states arrived. */
  #arrived = $state(0);
  #feeds = new Map<string, FeedView>();
  #net: Net;
  #told = 0;
  /** The build that this page came with: what it says itself, or else the first that answers. */
  #came: string | null = cameWith();
  #serial = 0;
  /** Who waits for the next change of the line. */
  #changed: (() => void)[] = [];
  readonly #tab = crypto.getRandomValues(new Uint32Array(2)).join("-");

  constructor() {
    this.#net = new Net(
      {
        open: () => openSocket(),
        now: () => Date.now(),
        random: () => Math.random(),
        later: (after, run) => {
          const timer = setTimeout(run, after);
          return () => clearTimeout(timer);
        },
      },
      {
        hello: (hello) => this.#helloFrom(hello),
        line: (line) => this.#lineIs(line),
        pending: (commands) => (this.waiting = commands),
        hole: (topic, had, from) => {
          this.holes += 1;
          console.warn(`a hole in ${topic.topic}: had ${had}, next begins after ${from}; asked for again`);
        },
      },
    );
  }

  #lineIs(line: Line): void {
    const was = this.line.state;
    this.line = line;
    for (const told of this.#changed.splice(0)) told();
    // The missed messages follow a reconnect, then the mark that they were all.
    if (line.state === "lost") for (const view of [this.inbox, ...this.#flows.values(), ...this.#feeds.values()]) view.caughtUp = false;
    if (line.state === "open") this.locked = false;
    if (line.state !== "lost") this.away = false;
    else if (was !== "lost") setTimeout(() => (this.away = this.line.state === "lost"), WORTH_A_WORD_MS);
    // A socket that is refused does not say why; a request does.
    if (line.state === "lost") void get("/api/projects").catch((error: unknown) => {
      if (error instanceof Refused && error.status === 401 && this.line.state === "lost") this.locked = true;
    });
  }

  #helloFrom(hello: Hello): void {
    this.hello = hello;
    if (railBefore()?.workspace !== hello.workspace) this.before = [];
    this.#came ??= hello.build;
    const understood = hello.proto === PROTO;
    this.replaced = understood && hello.build === this.#came ? null : { build: hello.build, came: this.#came === hello.build ? null : this.#came, understood };
  }

  /** Connects and watches the inbox, which every screen needs. */
  start(): void {
    this.#watch(this.inbox, { topic: "inbox" }, undefined, foldInbox);
    this.#net.connect();
    addEventListener("online", () => this.retry());
    addEventListener("pagehide", () => {
      if (this.hello !== null && this.inbox.state !== null) keepRail(this.hello.workspace, Object.values(this.inbox.state.flows), this.asks);
    });
    document.addEventListener("visibilitychange", () => {
      this.#net.live(document.visibilityState === "visible");
      if (document.visibilityState === "visible") this.retry();
    });
  }

  /** Whether what a view shows may not be all there is. */
  troubled(view: View<unknown>): boolean {
    return this.away || (!view.caughtUp && view.head > view.seq);
  }

  /** What tells a flow from others of its title; empty where no other has it. */
  tail(flow: FlowRef): string {
    return this.#tails.get(refKey(flow)) ?? "";
  }
  /** How a flow is called where it is one of many: by its title, and what tells it from others of that title. */
  nameOf(flow: FlowRef, title = this.inbox.state?.flows[refKey(flow)]?.title ?? ""): string {
    const tail = this.tail(flow);
    return title === "" ? flow.flow : tail === "" ? title : `${title} · ${tail}`;
  }

  /** What of a flow's journal cannot be read. */
  harm(flow: FlowRef): Harm | null {
    return harmOf(this.inbox.state?.flows[refKey(flow)], flow.flow);
  }

  /** The next change of the line: it is lost, tried again or open. */
  lineChange(): Promise<void> {
    return new Promise((done) => this.#changed.push(done));
  }

  /** Tries the connection now. */
  retry(): void {
    this.#net.connect();
  }

  /** Watches a flow. Call `release` with it when it is no longer shown. */
  watchFlow(flow: FlowRef): View<FlowState> {
    const view = kept(this.#flows, refKey(flow), () => new View<FlowState>());
    view.watchers += 1;
    if (view.end === null) this.#watch(view, { topic: "flow", flow }, undefined, foldFlow);
    return view;
  }

  /** A flow as far as it is known here, without watching it. */
  peekFlow(flow: FlowRef): FlowState | null {
    // A flow that was not watched yet has no state to wait for: the count of those that arrived is waited for instead.
    void this.#arrived;
    return this.#flows.get(refKey(flow))?.state ?? null;
  }

  /** Watches one role's feed. */
  watchFeed(flow: FlowRef, role: string): FeedView {
    const view = kept(this.#feeds, `${refKey(flow)}\n${role}`, () => new FeedView());
    view.watchers += 1;
    if (view.end === null) this.#watchFeed(view, flow, role);
    return view;
  }

  /** Ends one watching of a view. Its last state stays for a while. */
  release(view: View<FlowState> | FeedView): void {
    view.watchers -= 1;
    if (view.watchers > 0) return;
    view.end?.();
    view.end = null;
    view.caughtUp = false;
  }

  /** Sends a command and returns its acknowledgement; a refusal is also shown as an error. */
  async command({ project, flow }: FlowRef, command: Command): Promise<Ack> {
    this.#serial += 1;
    // The address alone: what gives a command has it as a part of a head or a row, and the server takes nothing besides it.
    const ack = await this.#net.command({ project, flow }, command, `${this.#tab}-${this.#serial}`);
    if (ack.ok) return ack;
    const told = { ...ack, error: inSentences(ack.error) };
    this.fail(told.error);
    return told;
  }

  /** Shows an error until it is dismissed. */
  fail(fault: Fault): void {
    this.#told += 1;
    this.errors = [...this.errors.slice(-3), { id: this.#told, fault }];
  }
  dismiss(id: number): void {
    this.errors = this.errors.filter((told) => told.id !== id);
  }

  /** Puts older items in front of a feed; while some are on their way, these are waited for. */
  older(view: FeedView, flow: FlowRef, role: string, limit = FEED_WINDOW): Promise<void> {
    const before = view.state?.before ?? null;
    if (before === null) return Promise.resolve();
    view.older ??= this.#older(view, before, flow, role, limit).finally(() => {
      view.older = null;
      view.loadingOlder = false;
    });
    view.loadingOlder = true;
    return view.older;
  }
  async #older(view: FeedView, before: number, flow: FlowRef, role: string, limit: number): Promise<void> {
    try {
      const page = await get<{ items: Item[]; before: number | null }>(flowApi(flow, "items", { role, before, limit }));
      if (view.state !== null) view.state = foldOlder(view.state, page.items, page.before);
    } catch (error) {
      this.fail(asFault(error));
    }
  }

  #watch<S>(view: View<S>, topic: Topic, window: number | undefined, fold: (state: S, puts: Record<string, Part | null>) => S): void {
    view.end = this.#net.watch(topic, cursor(view), window, (news) => {
      const first = view.state === null;
      hear(view, news);
      if (first && view.state !== null) this.#arrived += 1;
      if (news.t === "ev" && view.state !== null && news.put !== undefined && !Array.isArray(news.put)) view.state = fold(view.state, news.put);
    });
  }

  // A replay comes in many messages, and each change of a feed is drawn: those that come together are one change.
  #watchFeed(view: FeedView, flow: FlowRef, role: string): void {
    const waiting: Extract<News, { t: "ev" }>[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let [items, began, last] = [0, 0, Number.NEGATIVE_INFINITY];
    const flush = (): void => {
      clearTimeout(timer);
      items = 0;
      last = performance.now();
      const put: Item[] = [];
      for (const news of waiting.splice(0)) {
        hear(view, news);
        if (Array.isArray(news.put)) for (const item of news.put) put.push(item);
      }
      if (view.state === null || put.length === 0) return;
      view.state = foldFeed(view.state, put);
      view.tails = settled(view.tails, put);
    };
    const end = this.#net.watch({ topic: "feed", flow, role }, cursor(view), FEED_WINDOW, (news) => {
      if (news.t === "ev") {
        const now = performance.now();
        if (waiting.length === 0) began = now;
        waiting.push(news);
        items += Array.isArray(news.put) ? news.put.length : 0;
        clearTimeout(timer);
        const rest = restOf({ items, began }, now, last, view.caughtUp);
        if (rest === 0) flush();
        else timer = setTimeout(flush, rest);
        return;
      }
      flush();
      hear(view, news);
      if (news.t === "snap") view.tails = new Map();
      if (news.t === "delta") this.#delta(view, flow, news);
    });
    view.end = () => {
      flush();
      end();
    };
  }

  #delta(view: FeedView, flow: FlowRef, delta: Extract<News, { t: "delta" }>): void {
    const had = view.tails.get(delta.item) ?? null;
    const item = had === null ? (view.state?.items.findLast((one) => one.id === delta.item) ?? null) : null;
    const next = tailAfter(had, item, delta, new Date().toISOString());
    if (next !== null) {
      view.tails = new Map(view.tails).set(delta.item, next);
      return;
    }
    // The page missed some of it: the server has it whole.
    void itemBody(flow, delta.item).then((body) => {
      view.tails = new Map(view.tails).set(delta.item, { text: body.text, bytes: body.total_bytes, at: new Date().toISOString() });
    }, () => undefined);
  }
}

function cursor(view: View<unknown>): { seq: number; epoch: string } | null {
  return view.state === null || view.epoch === null ? null : { seq: view.seq, epoch: view.epoch };
}

function hear<S>(view: View<S>, news: News): void {
  switch (news.t) {
    case "snap":
      view.state = news.state as S;
      view.seq = news.seq;
      view.head = Math.max(news.seq, view.head);
      view.epoch = news.epoch;
      view.gone = null;
      return;
    case "ev":
      view.seq = news.to;
      if (news.to > view.head) view.head = news.to;
      return;
    case "caught_up":
      view.head = news.head;
      view.caughtUp = true;
      return;
    case "gone":
      view.gone = news.why;
      return;
    case "delta": return;
  }
}

function settled(tails: ReadonlyMap<string, Tail>, news: Item[]): ReadonlyMap<string, Tail> {
  if (tails.size === 0) return tails;
  const left = new Map(tails);
  for (const item of news) left.delete(item.id);
  return left.size === tails.size ? tails : left;
}

function kept<V extends View<unknown>>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key) ?? make();
  map.delete(key);
  map.set(key, found);
  for (const [old, view] of map) {
    if (map.size <= KEPT) break;
    if (view.watchers === 0 && old !== key) map.delete(old);
  }
  return found;
}

/** The build of the program that served the page, from its headers; null where a browser hides them. */
function cameWith(): string | null {
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return entry?.serverTiming?.find((one) => one.name === "build")?.description ?? null;
}

/** Whatever was thrown, as something that can be shown. */
export function asFault(error: unknown): Fault {
  if (typeof error === "object" && error !== null && "fault" in error) return error.fault as Fault;
  return { code: "unreachable", what: "The server did not answer.", why: error instanceof Error ? error.message : String(error), try: "Try again when the connection is back." };
}

export const store = new Store();
