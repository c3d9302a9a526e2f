// What a file answers, from one that the program wrote.
import { describe, expect, it } from "vitest";
import type { Diff, Down, Events, Exported, FeedState, FlowState, Hits, Items, Moment, Transcript, Up } from "../wire";
import { Answers } from "./answers";
import { hear } from "./line";
import { Moments } from "./moments";
import { unpacked } from "./unpack";

type Asked = { role: string; at: number; seg: string; told: Transcript | null };
type Case = { exported: Exported; states: [number, FlowState][]; sessions: Asked[] };
const told = Object.values(import.meta.glob<Case>("../../../tests/exported/review-loop.json", { eager: true, import: "default" }))[0] as Case;
const answers = new Answers(told.exported);
const { flow, seq } = told.exported;
const root = `/api/flow/${flow.project}/${flow.flow}`;
const ask = async <T>(path: string): Promise<T> => (await answers.answer(path).json()) as T;

/** Streamed text moves the number of the last event and no view. */
const still = (state: FlowState): FlowState => ({ ...state, flow: { ...state.flow, seq: 0, updated_at: "" } });

describe("a file", () => {
  it.each(told.states)("shows the flow at event %i as the server made it", async (at, state) => {
    const then = await ask<FlowState>(`${root}/state?at=${at}`);
    expect(then.flow.seq).toBe(at);
    expect(still(then)).toEqual(still(state));
  });
  it("shows each event the same, wherever one comes from", () => {
    const forward = new Moments(told.exported.moments);
    const there = Array.from({ length: seq }, (_, at) => JSON.stringify(forward.at(at + 1)));
    const back = new Moments(told.exported.moments);
    for (let at = seq; at >= 1; at -= 1) expect(JSON.stringify(back.at(at))).toBe(there[at - 1]);
  });
  it("keeps to itself what it keeps whole on the way", () => {
    const long = Array.from({ length: 1_700 }, (_, n) => ({ seq: n + 1, set: n === 0 ? { flow: { title: "a", n } } : {}, merge: n === 0 ? {} : { flow: { n } } }));
    const moments = new Moments(long as unknown as Moment[]);
    for (const at of [1_700, 3, 1_200, 499, 500, 501, 1_000, 1]) expect((moments.at(at)?.flow as unknown as { n: number }).n).toBe(at - 1);
  });
  it("has nothing before its first event", () => expect(new Moments(told.exported.moments).at(0)).toBeNull());

  it("gives feeds by their windows", async () => {
    const all = await ask<Items>(`${root}/items?role=writer`);
    expect(all.before).toBeNull();
    const last = await ask<Items>(`${root}/items?role=writer&limit=2`);
    expect(last.items).toEqual(all.items.slice(-2));
    expect(last.before).toBe(last.items[0]?.first);
    const older = await ask<Items>(`${root}/items?role=writer&limit=500&before=${last.before}`);
    expect([...older.items, ...last.items]).toEqual(all.items);
    const past = await ask<Items>(`${root}/items?role=writer&at=${all.items[3]?.first}`);
    expect(past.items).toEqual(all.items.slice(0, 4));
  });
  it("gives events by kind and place", async () => {
    const some = await ask<Events>(`${root}/events?kind=call_finished&limit=2`);
    expect(some.events.map((event) => event.fact)).toEqual(["call_finished", "call_finished"]);
    const all = await ask<Events>(`${root}/events?before=${seq + 1}&limit=1000`);
    expect(all.events.map((event) => event.seq)).toEqual(Array.from({ length: seq }, (_, n) => n + 1));
  });
  it("gives sessions part by part", async () => {
    const live = await ask<Transcript>(`${root}/role/writer/transcript?seg=live&from=1&limit=2`);
    expect(live.messages.map((message) => message.n)).toEqual([1, 2]);
    for (const { role, at, seg, told: then } of told.sessions) {
      const answer = answers.answer(`${root}/role/${role}/transcript?seg=${seg}&at=${at}`);
      expect([role, at, seg, answer.status]).toEqual([role, at, seg, then === null ? 404 : 200]);
      if (then !== null) expect(await answer.json()).toEqual(then);
    }
    for (const segment of live.segments) expect((await ask<Transcript>(`${root}/role/writer/transcript?seg=${segment.id}`)).total).toBe(segment.messages);
  });
  it("gives a session to take along under the names it has on a disk", async () => {
    const all = await ask<Transcript>(`${root}/role/writer/transcript?seg=live&limit=1000`);
    const whole = await ask<{ roleName: string; systemPrompt: string; transcriptHistory: unknown[] }>(`${root}/role/writer/transcript.json`);
    expect(whole.roleName).toBe("writer");
    expect(whole.transcriptHistory).toEqual(all.messages.map((message) => message.raw));
    const then = await ask<{ transcriptHistory: { seq: number }[] }>(`${root}/role/writer/transcript.json?at=40`);
    expect(then.transcriptHistory.length).toBeGreaterThan(0);
    expect(then.transcriptHistory.every((message) => message.seq <= 40)).toBe(true);
  });
  it("puts requests together from what they have in common, however many stand before", async () => {
    const long = 3_000;
    const one = (n: number) => ({ model: "m", hash: "0", total_bytes: 1, same: n === 1 ? 0 : 2, pieces: n === 1 ? [0, 1, 2] : [1, 2], ...(n === 1 ? {} : { after: n - 1 }) });
    const sent = Object.fromEntries(Array.from({ length: long }, (_, n) => [String(n + 1), one(n + 1)]));
    const requests = { sent: { ...sent, [long + 1]: { ...one(1), differs: "why", after: long, same: 1, pieces: [3] } }, pieces: ["[", ",1", "]", "2]"], unwritten: { "7000": "no model takes the turns" }, left_out: 4 };
    const file = new Answers({ ...told.exported, requests });
    const asked = async (seq: number): Promise<Record<string, unknown>> => (await file.answer(`${root}/request/${seq}`).json()) as Record<string, unknown>;
    expect((await asked(1)).body).toBe("[,1]");
    for (const seq of [2, 3, long]) expect(await asked(seq)).toEqual({ seq, model: "m", hash: "0", total_bytes: 1, body: "[,1,1]" });
    expect(await asked(long + 1)).toMatchObject({ body: "[2]", differs: "why" });
    expect(await asked(7_000)).toMatchObject({ what: "this request cannot be shown", why: "no model takes the turns" });
    expect((await asked(8_000)).why).toContain("4 before them were left out");
  });
  it("compares versions of files by itself", async () => {
    const versions = told.exported.files.files.flatMap((file) => file.versions);
    const [a, b] = [versions[0]?.hash ?? "", versions.at(-1)?.hash ?? ""];
    expect(await answers.answer(`${root}/blob/${b}`).text()).toBe(told.exported.blobs[b]);
    const diff = await ask<Diff>(`${root}/diff?path=x&a=${a}&b=${b}`);
    expect(diff.hunks.flatMap((hunk) => hunk.lines.filter((line) => line.op === "+")).length).toBeGreaterThan(0);
  });
  it("finds words in feeds, and says where", async () => {
    const { hits } = await ask<Hits>("/api/search?q=HANDED");
    expect(hits.length).toBeGreaterThan(0);
    expect(hits.every((hit) => hit.snippet.toLowerCase().includes("handed"))).toBe(true);
    expect((await ask<Hits>("/api/search?q=h")).hits).toEqual([]);
  });
  it("says what it does not have", async () => {
    for (const path of [`${root}/item/f999999/body`, `${root}/blob/${"0".repeat(64)}`, `${root}/export.html`, "/api/models", "/api/flow/other/flow/state", `${root}/role/nobody/transcript`]) {
      const answer = answers.answer(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(((await answer.json()) as { code: string }).code).toBe("not-found");
    }
    const without = new Answers({ ...told.exported, bodies: {}, without: ["bodies"] });
    expect(await without.answer(`${root}/item/f1/body`).text()).toContain("without bodies");
  });
  it("says on the line what there is, and that nothing can be done", () => {
    const said: Down[] = [];
    const say = (up: Up): void => hear(answers, up, (down) => said.push(down));
    say({ t: "sub", id: 1, topic: { topic: "flow", flow }, since: null, epoch: null });
    say({ t: "sub", id: 2, topic: { topic: "feed", flow, role: "writer" }, since: null, epoch: null });
    say({ t: "sub", id: 3, topic: { topic: "flow", flow: { project: "other", flow: "x" } }, since: null, epoch: null });
    say({ t: "do", cmd: "c1", flow, command: { do: "pause" } });
    expect(said.map((down) => down.t)).toEqual(["snap", "caught_up", "snap", "caught_up", "gone", "ack"]);
    const feed = said[2]?.t === "snap" ? (said[2].state as FeedState) : null;
    expect(feed?.total).toBe(feed?.items.length);
    expect(said[5]).toMatchObject({ ok: false });
  });
  it("unpacks what was packed, in any letters", async () => {
    const text = JSON.stringify({ a: "</script>\u2028\u0000 äöü 漢字 🦀" });
    const packed = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
    expect(await unpacked(`\n${btoa(String.fromCharCode(...packed))}\n`)).toBe(text);
  });
});
