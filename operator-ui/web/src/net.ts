// The socket: subscriptions with their cursors, commands with their acknowledgements, and coming back.
//
// A cursor is read when the socket opens, never earlier. A message that does not continue where the page is, is a
// hole: it is reported and the topic is asked for again. A command is kept until the server acknowledges
// it, and is sent again under its own id after a break; the server counts it once.
import { AS_A_FILE, longerThan, TOO_LONG } from "./said/choices";
import { FRAME_BYTES_MAX, PROTO, type Command, type Down, type Fault, type FlowRef, type Topic, type Up } from "./wire";

/** The messages that a subscriber gets, in the order of the journal. */
export type News = Extract<Down, { t: "snap" | "ev" | "caught_up" | "delta" | "gone" }>;
export type Ack = Extract<Down, { t: "ack" }>;
export type Hello = Extract<Down, { t: "hello" }>;

export type Line =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "lost"; since: number; retry: number; refused: boolean };

/** The part of a socket that is used, so that a test can replace it. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
}
export interface World {
  open(): Socket;
  now(): number;
  random(): number;
  later(after: number, run: () => void): () => void;
}
export interface Listener {
  hello(hello: Hello): void;
  line(line: Line): void;
  pending(commands: readonly Waiting[]): void;
  hole(topic: Topic, had: number, from: number): void;
}
export type Waiting = { cmd: string; flow: FlowRef; command: Command; sent: boolean };

/** First and longest wait before the next try. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;
/** A socket may be dead without an event; this often it is asked, and this long it may take. */
const PING_EVERY = 20_000;
const PONG_WITHIN = 10_000;
/** How a socket closes that got a message which is too long. */
const TOO_LONG_A_MESSAGE = 1009;
const MIB = 1024 * 1024;
/** More commands than a person can give while a connection is away. */
const MOST_WAITING = 200;

type Sub = { id: number; topic: Topic; window: number | undefined; seq: number | null; epoch: string | null; holes: number; hear: (news: News) => void };

export class Net {
  #world: World;
  #listener: Listener;
  #socket: Socket | null = null;
  #open = false;
  #subs = new Map<number, Sub>();
  #ids = 0;
  #waiting = new Map<string, Waiting & { done: (ack: Ack) => void }>();
  #failures = 0;
  #lostAt: number | null = null;
  #cancelRetry: (() => void) | null = null;
  #cancelPing: (() => void) | null = null;
  #stopped = false;
  #listening = true;

  constructor(world: World, listener: Listener) {
    this.#world = world;
    this.#listener = listener;
  }

  /** Opens the socket, at once when a retry was waiting. */
  connect(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    if (this.#socket !== null || this.#stopped) return;
    if (this.#lostAt === null) this.#listener.line({ state: "connecting" });
    const socket = this.#world.open();
    this.#socket = socket;
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = (event) => this.#heard(socket, event.data);
    socket.onclose = (event) => this.#closed(socket, event.code);
  }

  /** Ends everything; for tests and for leaving the page. */
  stop(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#cancelPing?.();
    this.#socket?.close();
  }

  // Ends the exchange with this server; callers that wait for an answer get an error.
  #part(): void {
    this.#open = false;
    this.stop();
    this.#socket = null;
    const told = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const waiting of told) waiting.done(otherVersion(waiting.cmd));
    this.#tellPending();
  }

  /** Whether text that is still being written is wanted: not in a hidden tab. */
  live(on: boolean): void {
    if (on === this.#listening) return;
    this.#listening = on;
    this.#say({ t: "live", on });
  }

  /** Subscribes from the cursor given; the return value ends it. */
  watch(topic: Topic, cursor: { seq: number; epoch: string } | null, window: number | undefined, hear: (news: News) => void): () => void {
    const sub: Sub = { id: ++this.#ids, topic, window, seq: cursor?.seq ?? null, epoch: cursor?.epoch ?? null, holes: 0, hear };
    this.#subs.set(sub.id, sub);
    if (this.#open) this.#ask(sub);
    // A hole gives the subscription a new number, so its number is looked up when it ends.
    return () => {
      if (this.#subs.delete(sub.id)) this.#say({ t: "unsub", id: sub.id });
    };
  }

  /** Gives a command. It is kept until it is answered; while the socket is away it waits, visibly. */
  command(flow: FlowRef, command: Command, cmd: string): Promise<Ack> {
    if (this.#stopped) return Promise.resolve(otherVersion(cmd));
    if (this.#waiting.size >= MOST_WAITING) {
      const error: Fault = { code: "too-many", what: "This command was not sent.", why: "Too many commands already wait for the connection.", try: "Wait until the connection is back." };
      return Promise.resolve({ t: "ack", cmd, ok: false, error });
    }
    const up: Up = { t: "do", cmd, flow, command };
    if (bytesOf(up) > FRAME_BYTES_MAX) return Promise.resolve(tooLong(cmd, longerThan(String(FRAME_BYTES_MAX / MIB))));
    return new Promise((done) => {
      this.#waiting.set(cmd, { cmd, flow, command, sent: this.#open, done });
      if (this.#open) this.#say(up);
      this.#tellPending();
    });
  }

  #say(up: Up): void {
    if (this.#open) this.#socket?.send(JSON.stringify(up));
  }

  #ask(sub: Sub): void {
    const up: Up = { t: "sub", id: sub.id, topic: sub.topic, since: sub.seq, epoch: sub.epoch };
    this.#say(sub.window === undefined ? up : { ...up, window: sub.window });
  }

  #opened(socket: Socket): void {
    if (socket !== this.#socket) return;
    this.#open = true;
    this.#lostAt = null;
    this.#listener.line({ state: "open" });
    if (!this.#listening) this.#say({ t: "live", on: false });
    for (const sub of this.#subs.values()) this.#ask(sub);
    for (const waiting of this.#waiting.values()) {
      waiting.sent = true;
      this.#say({ t: "do", cmd: waiting.cmd, flow: waiting.flow, command: waiting.command });
    }
    this.#tellPending();
    this.#pingLater(socket);
  }

  #closed(socket: Socket, code?: number): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#open = false;
    this.#cancelPing?.();
    if (this.#stopped) return;
    if (code === TOO_LONG_A_MESSAGE) this.#dropTheLongest();
    for (const waiting of this.#waiting.values()) waiting.sent = false;
    this.#lostAt ??= this.#world.now();
    this.#failures += 1;
    const wait = backoff(this.#failures, this.#world.random());
    this.#listener.line({ state: "lost", since: this.#lostAt, retry: this.#world.now() + wait, refused: false });
    this.#tellPending();
    this.#cancelRetry = this.#world.later(wait, () => this.connect());
  }

  // The server takes less than this page knows of: sent again, the same message would close every socket.
  #dropTheLongest(): void {
    const sent = [...this.#waiting.values()].filter((waiting) => waiting.sent);
    const longest = sent.reduce<(typeof sent)[number] | null>((most, one) => (most === null || bytesOf(one.command) > bytesOf(most.command) ? one : most), null);
    if (longest === null) return;
    this.#waiting.delete(longest.cmd);
    longest.done(tooLong(longest.cmd, "the server takes no message of that length"));
  }

  #heard(socket: Socket, data: unknown): void {
    if (socket !== this.#socket || typeof data !== "string") return;
    const down = JSON.parse(data) as Down;
    switch (down.t) {
      case "hello":
        this.#failures = 0;
        this.#listener.hello(down);
        // Its next message could be misread, and so could ours.
        if (down.proto !== PROTO) this.#part();
        return;
      case "pong": return;
      case "ack": {
        const waiting = this.#waiting.get(down.cmd);
        this.#waiting.delete(down.cmd);
        this.#tellPending();
        waiting?.done(down);
        return;
      }
      case "snap": case "ev": case "caught_up": case "delta": case "gone": {
        const sub = this.#subs.get(down.id);
        if (sub !== undefined) this.#news(sub, down);
      }
    }
  }

  #news(sub: Sub, news: News): void {
    if (news.t === "snap") {
      sub.seq = news.seq;
      sub.epoch = news.epoch;
      sub.holes = 0;
    } else if (news.t === "ev") {
      // What ends where the page is and began earlier is there already. What begins there as well claims no record:
      // a piece of what was missed, or something that no record tells.
      if (sub.seq !== null && news.to <= sub.seq && news.from !== sub.seq) return;
      if (sub.seq === null || news.from !== sub.seq) {
        this.#again(sub, news.from);
        return;
      }
      sub.seq = news.to;
      sub.holes = 0;
    }
    sub.hear(news);
  }

  // Asked for again under a new number, so that what is still under way for the old one is not mistaken for it.
  // Once from the cursor; when that leads to a hole again, from nothing.
  #again(sub: Sub, from: number): void {
    this.#listener.hole(sub.topic, sub.seq ?? 0, from);
    sub.holes += 1;
    if (sub.holes > 1) sub.seq = null;
    this.#subs.delete(sub.id);
    this.#say({ t: "unsub", id: sub.id });
    sub.id = ++this.#ids;
    this.#subs.set(sub.id, sub);
    this.#ask(sub);
  }

  #tellPending(): void {
    this.#listener.pending([...this.#waiting.values()]);
  }

  #pingLater(socket: Socket): void {
    this.#cancelPing = this.#world.later(PING_EVERY, () => {
      if (socket !== this.#socket) return;
      let answered = false;
      const hear = socket.onmessage;
      socket.onmessage = (event) => {
        answered = true;
        socket.onmessage = hear;
        hear?.(event);
      };
      this.#say({ t: "ping", n: Math.floor(this.#world.now()) });
      this.#cancelPing = this.#world.later(PONG_WITHIN, () => {
        if (answered) this.#pingLater(socket);
        else {
          socket.close();
          this.#closed(socket);
        }
      });
    });
  }
}

const bytesOf = (said: Up | Command): number => new TextEncoder().encode(JSON.stringify(said)).length;

function tooLong(cmd: string, why: string): Ack {
  return { t: "ack", cmd, ok: false, error: { code: "message-unfit", what: TOO_LONG, why, try: AS_A_FILE } };
}

function otherVersion(cmd: string): Ack {
  return { t: "ack", cmd, ok: false, error: { code: "another-version", what: "It is not known whether this was done.", why: "The server now runs another version.", try: "Reload the page and look." } };
}

/** How long the next try waits: doubling, bounded, spread by up to a half so that tabs do not come in step. */
export function backoff(failures: number, random: number): number {
  const full = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(failures - 1, 10));
  return Math.max(FIRST_WAIT, full * (0.5 + random / 2));
}
