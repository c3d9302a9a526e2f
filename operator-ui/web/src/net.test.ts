// The socket under a clock that the test moves.
import { describe, expect, it } from "vitest";
import { backoff, Net, type Line, type News, type Socket, type Waiting } from "./net";
import type { Down, Topic, Up } from "./wire";

class Bench {
  now = 0;
  timers: { at: number; run: () => void }[] = [];
  sockets: (Socket & { sent: Up[] })[] = [];
  lines: Line[] = [];
  pending: readonly Waiting[] = [];
  holes: [string, number, number][] = [];
  net = new Net(
    {
      open: () => {
        const sent: Up[] = [];
        const socket = { sent, send: (text: string) => void sent.push(JSON.parse(text) as Up), close: () => undefined, onopen: null, onmessage: null, onclose: null };
        this.sockets.push(socket);
        return socket;
      },
      now: () => this.now,
      random: () => 0.5,
      later: (after, run) => {
        const timer = { at: this.now + after, run };
        this.timers.push(timer);
        return () => (this.timers = this.timers.filter((one) => one !== timer));
      },
    },
    { hello: () => undefined, line: (line) => this.lines.push(line), pending: (commands) => (this.pending = commands), hole: (topic, had, from) => this.holes.push([topic.topic, had, from]) },
  );
  get socket(): Socket & { sent: Up[] } {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error("no socket");
    return last;
  }
  says(down: Down): void {
    this.socket.onmessage?.({ data: JSON.stringify(down) });
  }
  passes(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.timers.filter((one) => one.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.now = next.at;
      next.run();
    }
    this.now = until;
  }
  subs(): Extract<Up, { t: "sub" }>[] {
    return this.socket.sent.filter((up) => up.t === "sub");
  }
}
const INBOX: Topic = { topic: "inbox" };
const FLOW = { project: "p", flow: "f" };
const ev = (id: number, from: number, to: number): Down => ({ t: "ev", id, from, to, at: "", put: {} });
const snap = (id: number, seq: number): Down => ({ t: "snap", id, seq, epoch: "e", state: { flows: {}, asks: {}, decided: [] } });

function watching(): { bench: Bench; heard: News[] } {
  const bench = new Bench();
  const heard: News[] = [];
  bench.net.watch(INBOX, null, undefined, (news) => heard.push(news));
  bench.net.connect();
  bench.socket.onopen?.();
  bench.says(snap(1, 10));
  return { bench, heard };
}

describe("a subscription", () => {
  it("is asked for from where the page is when the socket comes back, not from where it was first", () => {
    const { bench } = watching();
    bench.says(ev(1, 10, 14));
    bench.socket.onclose?.({ code: 1006 });
    bench.passes(400);
    bench.socket.onopen?.();
    expect(bench.subs()).toEqual([{ t: "sub", id: 1, topic: INBOX, since: 14, epoch: "e" }]);
  });
  it("drops what it has already", () => {
    const { bench, heard } = watching();
    bench.says(ev(1, 10, 14));
    bench.says(ev(1, 10, 14));
    expect(heard.map((news) => news.t)).toEqual(["snap", "ev"]);
  });
  it("takes what claims no record: pieces of what was missed, and what no record tells", () => {
    const { bench, heard } = watching();
    bench.says(ev(1, 10, 10));
    bench.says(ev(1, 10, 10));
    bench.says(ev(1, 10, 14));
    bench.says(ev(1, 14, 14));
    expect(heard.map((news) => (news.t === "ev" ? [news.from, news.to] : news.t))).toEqual(["snap", [10, 10], [10, 10], [10, 14], [14, 14]]);
    bench.says(ev(1, 10, 10));
    expect(heard).toHaveLength(5);
    expect(bench.holes).toEqual([]);
  });
  it("reports a hole and asks again from where it is whole", () => {
    const { bench, heard } = watching();
    bench.says(ev(1, 12, 14));
    expect(bench.holes).toEqual([["inbox", 10, 12]]);
    expect(bench.socket.sent.slice(-2)).toEqual([{ t: "unsub", id: 1 }, { t: "sub", id: 2, topic: INBOX, since: 10, epoch: "e" }]);
    expect(heard).toHaveLength(1);
  });
  it("asks from nothing when asking again led to a hole again", () => {
    const { bench } = watching();
    bench.says(ev(1, 12, 14));
    bench.says(ev(2, 12, 14));
    expect(bench.subs().at(-1)).toMatchObject({ since: null });
  });
  it("hears nothing any more of its old number after a hole", () => {
    const { bench, heard } = watching();
    bench.says(ev(1, 12, 14));
    bench.says(ev(1, 10, 11));
    expect(heard).toHaveLength(1);
  });
});

describe("a command", () => {
  it("waits visibly while the line is away and is sent once it is back, under its own name", async () => {
    const { bench } = watching();
    bench.socket.onclose?.({ code: 1006 });
    const ack = bench.net.command(FLOW, { do: "pause" }, "c1");
    expect(bench.pending.map((one) => [one.cmd, one.sent])).toEqual([["c1", false]]);
    bench.passes(400);
    bench.socket.onopen?.();
    expect(bench.socket.sent.filter((up) => up.t === "do")).toEqual([{ t: "do", cmd: "c1", flow: FLOW, command: { do: "pause" } }]);
    bench.says({ t: "ack", cmd: "c1", ok: true, seq: 11, facts: 1 });
    expect((await ack).ok).toBe(true);
    expect(bench.pending).toEqual([]);
  });
  it("whose acknowledgement was lost is sent again with the same name", () => {
    const { bench } = watching();
    void bench.net.command(FLOW, { do: "pause" }, "c1");
    bench.socket.onclose?.({ code: 1006 });
    bench.passes(400);
    bench.socket.onopen?.();
    expect(bench.socket.sent.filter((up) => up.t === "do").map((up) => up.cmd)).toEqual(["c1"]);
  });
  it("that is too long is refused before it is sent, and says what to do instead", async () => {
    const { bench } = watching();
    const before = bench.socket.sent.length;
    const ack = await bench.net.command(FLOW, { do: "reply", to: "only", text: "ä".repeat(9 << 20) }, "c1");
    expect(ack).toMatchObject({ ok: false, error: { why: "it is longer than 16 MiB" } });
    expect(bench.socket.sent).toHaveLength(before);
    expect(bench.pending).toEqual([]);
  });
  it("for which the server closes the socket is dropped with its refusal, and everything else is sent again", async () => {
    const { bench } = watching();
    const long = bench.net.command(FLOW, { do: "reply", to: "only", text: "a".repeat(2_000) }, "c1");
    void bench.net.command(FLOW, { do: "pause" }, "c2");
    bench.socket.onclose?.({ code: 1009 });
    const ack = await long;
    expect(ack).toMatchObject({ cmd: "c1", ok: false, error: { what: "the text is too long to be sent" } });
    bench.passes(400);
    bench.socket.onopen?.();
    expect(bench.socket.sent.filter((up) => up.t === "do").map((up) => up.cmd)).toEqual(["c2"]);
    expect(bench.sockets).toHaveLength(2);
  });
});

describe("the line", () => {
  it("is tried at once when somebody asks, and not twice", () => {
    const { bench } = watching();
    bench.socket.onclose?.({ code: 1006 });
    bench.net.connect();
    expect(bench.sockets).toHaveLength(2);
    bench.passes(10_000);
    expect(bench.sockets).toHaveLength(2);
  });
  it("is given up when it does not answer a ping", () => {
    const { bench } = watching();
    bench.passes(31_000);
    expect(bench.lines.at(-1)?.state).toBe("lost");
  });
  it("waits between a quarter second and five, longer each time", () => {
    const waits = [1, 2, 3, 4, 5, 6, 20].map((n) => backoff(n, 1));
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
    expect(backoff(1, 0)).toBe(250);
    expect(backoff(20, 0)).toBe(2500);
  });
});
