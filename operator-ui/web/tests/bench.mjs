// The page's figures, measured in the machine's Chromium against a stand-in server: `npm run bench`. Each has a budget;
// half as much again is allowed, because no machine is like another. It is run by hand and by no gate: a busy machine
// proves nothing, unless the browser goes before its other work (`chrt -f 10 npm run bench`).
import { spawnSync } from "node:child_process";
import { launch } from "./browser.mjs";
import { serve } from "./ledger/server.mjs";
import { stage as ledger } from "./ledger/told.mjs";
import { StandIn } from "./stand-in.mjs";
import { item, world } from "./world.mjs";

const SLACK = 1.5;
const KEY = "feed orchard/ledger backend";
const FEED = "/p/orchard/f/ledger/r/backend";
const figures = [];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const share = (list, part) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0;
function figure(what, value, budget, unit, also = "") {
  const verdict = value <= budget ? "ok" : value <= budget * SLACK ? "slack" : "MISS";
  figures.push({ what, value, budget, unit, verdict, also });
  console.log(`${verdict.padEnd(6)}${what.padEnd(52)}${value.toFixed(unit === "" ? 0 : 1).padStart(8)} of ${String(budget).padStart(5)} ${unit}${also === "" ? "" : `  (${also})`}`);
}

/** Items as a long flow has them: words, calls, handoffs; some three hundred bytes each. */
const many = (n, from = 1) => Array.from({ length: n }, (_, at) => {
  const seq = from + at;
  const words = `Item ${seq}. ${"The frame iterator holds the borrow, so the header is cloned first. ".repeat(1 + (seq % 4))}`;
  return seq % 3 === 0 ? item(seq, "tool-success", `read_file src/part-${seq}.rs`, { tool: "read_file", call_id: `c${seq}`, took_ms: 12 }) : item(seq, "assistant", words);
});

/** What a frame costs, and when a large message is painted. Put into the page before its own script. */
function probe() {
  window.frames = [];
  window.painted = [];
  window.soon = 0;
  const inner = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    get() { return inner.get.call(this); },
    set(hear) {
      inner.set.call(this, hear === null ? null : (event) => {
        const began = performance.now();
        hear.call(this, event);
        const size = String(event.data).length;
        if (size < 20_000) return;
        const told = performance.now();
        requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => window.painted.push({ size, began, told, at: performance.now() }); channel.port2.postMessage(0); });
      });
    },
  });
  for (const name of ["setTimeout", "setInterval"]) {
    const real = window[name];
    window[name] = (run, after, ...rest) => { if ((after ?? 0) < 1_000) window.soon += 1; return real(run, after, ...rest); };
  }
}
const browser = await launch();
/** Opens a page without a driver that follows its network: one that does gets each message as JSON, which takes 150 ms for 23 MB. */
async function opened(address, wait = "[data-seq]") {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page._connection.toImpl(page).delegate._mainFrameSession._client.send("Network.disable");
  await page.addInitScript(probe);
  await page.goto(address);
  await page.waitForSelector(wait);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable");
  const tasks = async () => (await cdp.send("Performance.getMetrics")).metrics.find((one) => one.name === "TaskDuration").value * 1_000;
  return { page, cdp, tasks, close: () => context.close() };
}
/** Runs something in the page for a while, and gives the lengths of its frames and the time of its tasks for each. */
async function watched({ page, tasks }, run, ms) {
  const before = await tasks();
  const frames = await page.evaluate(([body, ms]) => new Promise((done) => {
    const step = new Function(`return (${body})`)();
    const lengths = [];
    const began = performance.now();
    let last = began;
    requestAnimationFrame(function frame(at) {
      lengths.push(at - last);
      last = at;
      step();
      if (at - began < ms) requestAnimationFrame(frame);
      else done(lengths.slice(2));
    });
  }), [String(run), ms]);
  return { frames, task: ((await tasks()) - before) / Math.max(1, frames.length) };
}

async function first() {
  const server = await new StandIn(world()).listen();
  const times = [];
  for (let round = 0; round < 7; round += 1) {
    const { page, close } = await opened(`${server.address}/inbox`, "[data-seq]:not([data-seq='0'])");
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN));
    await close();
  }
  figure("painted from localhost", median(times), 250, "ms", "median of 7");
  await server.close();
}

/** What a message of this size costs any page: it is read, the last lines of it are shown, nothing else. */
async function bare(address) {
  const { page, close } = await opened(`${address}/favicon.svg`, "svg");
  const took = await page.evaluate(() => new Promise((done) => {
    const socket = new WebSocket(`ws://${location.host}/api/socket`);
    socket.onopen = () => socket.send(JSON.stringify({ t: "sub", id: 1, topic: { topic: "feed", flow: { project: "orchard", flow: "ledger" }, role: "backend" }, since: null, epoch: null }));
    socket.onmessage = (event) => {
      const began = performance.now();
      const down = JSON.parse(event.data);
      if (down.t !== "snap") return;
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.textContent = down.state.items.slice(-30).map((item) => item.text).join(" ");
      document.documentElement.append(text);
      requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => done(performance.now() - began); channel.port2.postMessage(0); });
    };
  }));
  await close();
  return took;
}

async function long() {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = many(50_000);
  const server = await new StandIn(data).listen();
  server.whole = true;
  const [times, bares] = [[], []];
  let one;
  let snap;
  for (let round = 0; round < 5; round += 1) {
    bares.push(await bare(server.address));
    await one?.close();
    one = await opened(server.address + FEED, "[role=log] .row");
    snap = await (await one.page.waitForFunction(() => window.painted.find((part) => part.size > 1_000_000))).jsonValue();
    times.push(snap.at - snap.began);
    await sleep(500);
  }
  figure("50,000 items: parsed, committed, painted", median(times), 200, "ms", `${(snap.size / 1e6).toFixed(1)} MB, median of 5; a bare page ${median(bares).toFixed(0)} ms; ${times.map((ms) => ms.toFixed(0)).join(", ")} against ${bares.map((ms) => ms.toFixed(0)).join(", ")}`);
  await one.cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await one.cdp.send("Runtime.getHeapUsage");
  figure("heap with 50,000 items", usedSize / 1e6, 60, "MB");
  await one.page.evaluate(() => { window.log = document.querySelector("[role=log]"); window.log.dispatchEvent(new WheelEvent("wheel")); });
  const scrolled = await watched(one, () => { window.log.dispatchEvent(new WheelEvent("wheel")); window.log.scrollTop -= 120; }, 5_000);
  figure("scroll 7,200 px/s over them: frames, p99", share(scrolled.frames, 0.99), 17, "ms", `${scrolled.frames.filter((ms) => ms > 20).length} of ${scrolled.frames.length} frames over 20 ms`);
  figure("scroll: tasks a frame", scrolled.task, 8, "ms");
  await one.close();
  await server.close();
}

async function streaming() {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = many(400);
  const server = await new StandIn(data).listen();
  const one = await opened(server.address + FEED, "[role=log] .row");
  server.put(KEY, [item(401, "assistant", "", { pending: true })]);
  await sleep(300);
  let sent = 0;
  const piece = "word `code` and **more** of it, and a line\n\n".slice(0, 40);
  const timer = setInterval(() => { server.delta(KEY, "f401", sent, piece); sent += piece.length; }, 20);
  const streamed = await watched(one, () => undefined, 5_000);
  clearInterval(timer);
  figure("stream 2,000 characters a second: frames, p95", share(streamed.frames, 0.95), 17, "ms", `${sent} characters`);
  figure("stream: tasks a frame", streamed.task, 8, "ms");
  await one.close();
  await server.close();
}

async function replay(n, budget) {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = many(3);
  const server = await new StandIn(data).listen();
  const one = await opened(server.address + FEED, "[role=log] .row");
  await sleep(300);
  await one.page.evaluate(() => { window.painted = []; });
  const all = many(n, 10);
  // Sent and not kept: keeping costs the stand-in more than the page.
  let seq = server.seq(KEY);
  // Painted is what shows the last of it: the page makes messages that come together one change.
  await one.page.evaluate((last) => {
    const pane = document.querySelector("[data-role=backend]");
    new MutationObserver((_, observer) => {
      if (pane.dataset.seq !== last) return;
      observer.disconnect();
      requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => (window.shown = performance.now()); channel.port2.postMessage(0); });
    }).observe(pane, { attributes: true, attributeFilter: ["data-seq"] });
  }, String(seq + Math.ceil(n / 400)));
  for (let at = 0; at < n; at += 400) {
    for (const each of server.sockets) for (const [id, topic] of each.subs) if (topic === KEY) each.say({ t: "ev", id, from: seq, to: seq + 1, at: new Date().toISOString(), put: all.slice(at, at + 400) });
    seq += 1;
  }
  await one.page.waitForFunction(() => window.shown !== undefined, undefined, { timeout: 60_000 });
  await sleep(400);
  const shown = await one.page.evaluate(() => window.shown);
  const parts = await one.page.evaluate(() => window.painted);
  figure(`replay of ${n.toLocaleString("en")} events, painted`, shown - Math.min(...parts.map((part) => part.began)), budget, "ms", `${parts.length} frames of the wire`);
  await one.close();
  await server.close();
}

async function graph() {
  const server = await serve(ledger());
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    const { page, close } = await opened(`${server.url}/p/orchard/f/big`);
    times.push(await page.waitForFunction(() => (document.querySelector("[data-card]") === null ? false : performance.now()), null, { polling: "raf" }).then((handle) => handle.jsonValue()));
    await close();
  }
  figure("graph of 200 nodes: first painted", median(times), 450, "ms", "from the address, median of 5");
  await server.close();
}

async function idle() {
  const server = await new StandIn(world()).listen();
  const one = await opened(`${server.address}/p/orchard/f/ledger`, "[role=log] .row");
  await sleep(3_000);
  let asked = 0;
  for (const event of ["request", "upgrade"]) server.door.http.on(event, () => (asked += 1));
  await one.page.evaluate(() => { window.soon = 0; });
  await sleep(5_000);
  figure("idle for 5 s: requests", asked, 0, "");
  figure("idle for 5 s: timers faster than a second", await one.page.evaluate(() => window.soon), 0, "");
  await one.close();
  await server.close();
}

const only = process.argv.slice(2);
const RUNS = { first, long, streaming, "replay-5000": () => replay(5_000, 150), "replay-50000": () => replay(50_000, 800), graph, idle };
for (const [name, run] of Object.entries(RUNS)) if (only.length === 0 || only.includes(name)) await run();
await browser.close();
if (only.length === 0) console.log(spawnSync("node", [new URL("../scripts/budget.mjs", import.meta.url).pathname], { encoding: "utf8" }).stdout);
const missed = figures.filter((one) => one.verdict === "MISS");
if (missed.length > 0) {
  console.error(`Beyond the budget and half as much again: ${missed.map((one) => one.what).join("; ")}`);
  process.exitCode = 1;
}
