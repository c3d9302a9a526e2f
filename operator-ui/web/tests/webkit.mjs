// The page in WebKit, whose scrolling is its own: `npm run webkit`, where Debian's webkit2gtk-driver and xvfb are.
// It is no part of the tests; a machine without them says NOT MEASURED.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { sleep, until } from "./stage.mjs";
import { StandIn } from "./stand-in.mjs";
import { item, world } from "./world.mjs";

const DRIVER = "/usr/bin/WebKitWebDriver";
const BROWSERS = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`);
const PORT = 9517;
const FLOW = "/p/orchard/f/ledger";
const FEED = `${FLOW}/r/backend`;
const TOPIC = "feed orchard/ledger backend";
const SCREENS = ["/inbox", "/flows", `${FLOW}/outline`, `${FLOW}/files`, `${FLOW}/events`, `${FEED}/transcript`, `${FLOW}?at=3100`, "/findings", "/roles", "/settings/look", "/settings/keys"];
const PAGE_UP = "\uE00E";

const binary = BROWSERS.find((path) => existsSync(path));
if (binary === undefined || !existsSync(DRIVER)) {
  console.log("NOT MEASURED: the page in WebKit, because webkit2gtk-driver and xvfb are not installed");
  process.exit(0);
}

async function call(method, path, body) {
  const answer = await fetch(`http://127.0.0.1:${PORT}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = await answer.json();
  if (value?.error !== undefined) throw new Error(`${path}: ${value.error}: ${value.message}`);
  return value;
}
const long = (n) => {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = Array.from({ length: n }, (_, at) => item(1000 + at, "assistant", `Line ${at}. ${"word ".repeat((at * 13) % 60)}`));
  return data;
};

const driver = spawn("xvfb-run", ["-a", "-s", "-screen 0 1500x1000x24", DRIVER, `--port=${PORT}`], { stdio: "ignore", detached: true, env: { ...process.env, LIBGL_ALWAYS_SOFTWARE: "1", WEBKIT_DISABLE_DMABUF_RENDERER: "1" } });
const servers = [];
let session;
try {
  await until(() => fetch(`http://127.0.0.1:${PORT}/status`).then((answer) => answer.ok, () => false), (ok) => ok, "the driver is there");
  const opened = await call("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary, args: ["--automation"] } } } });
  session = `/session/${opened.sessionId}`;
  console.log(`WebKitGTK ${opened.capabilities.browserVersion}`);
  await call("POST", `${session}/window/rect`, { width: 1440, height: 940 });
  const js = (script, ...args) => call("POST", `${session}/execute/sync`, { script: `return ${script}`, args });
  const go = (url) => call("POST", `${session}/url`, { url });
  const serve = async (data) => { const server = await new StandIn(data).listen(); servers.push(server); return server; };
  const act = (source) => call("POST", `${session}/actions`, { actions: [source] });
  const gap = () => js("(() => { const n = document.querySelector('[role=log]'); return n.scrollHeight - n.scrollTop - n.clientHeight; })()");
  const rows = () => js("Number(document.querySelector('[role=log]').dataset.rows)");
  const top = (seq) => js("document.querySelector(`[role=log] [data-seq='${arguments[0]}']`)?.getBoundingClientRect().top ?? null", seq);
  const readRow = () => js("(() => { const edge = document.querySelector('[role=log]').getBoundingClientRect().top + 40; return [...document.querySelectorAll('[role=log] .row')].find((row) => row.getBoundingClientRect().top > edge).dataset.seq; })()");
  const opens = async (server) => {
    await go(server.address + FEED);
    await until(() => js("document.querySelectorAll('[role=log] .row').length"), (n) => n > 3, "the feed is there");
    await until(gap, (pixels) => Math.abs(pixels) < 2, "it opens at its end");
  };

  const server = await serve(long(200));
  await opens(server);
  for (let n = 0; n < 20; n += 1) {
    server.put(TOPIC, [item(5000, "assistant", "streamed ".repeat(8 * (n + 1)), { pending: n < 19, seq: 5000 + n })]);
    await sleep(50);
  }
  await until(gap, (pixels) => Math.abs(pixels) < 2, "it follows what streams");
  console.log("ok: a feed opens at its end and follows what streams");

  await act({ type: "wheel", id: "wheel", actions: Array.from({ length: 6 }, () => ({ type: "scroll", x: 1150, y: 400, deltaX: 0, deltaY: -300, duration: 0 })) });
  await until(gap, (pixels) => pixels > 200, "a wheel leads up");
  await sleep(1_000);
  const read = await readRow();
  const stood = await top(read);
  for (let n = 0; n < 25; n += 1) {
    server.put(TOPIC, [item(6000 + (n >> 2), "assistant", "streamed ".repeat(12 * ((n & 3) + 1)), { seq: 6000 + n })]);
    await sleep(60);
    assert.equal(await top(read), stood, `after ${n} pieces`);
  }
  console.log("ok: nothing moves by a pixel while somebody reads further up");

  const far = await serve(long(900));
  far.slow = 900;
  await opens(far);
  const had = await rows();
  await js("document.querySelector('[role=log]').focus()");
  await act({ type: "key", id: "keys", actions: [{ type: "keyDown", value: PAGE_UP }, { type: "keyUp", value: PAGE_UP }] });
  await until(gap, (pixels) => pixels > 200, "Page Up leads up");
  for (let n = 0; n < 20 && (await js("document.querySelector('[role=log]').scrollTop")) > 350; n += 1) {
    await js("void (document.querySelector('[role=log]').scrollTop = 300)");
    await sleep(120);
  }
  const kept = await readRow();
  const was = await top(kept);
  await until(rows, (n) => n > had, "older items come");
  await sleep(1_000);
  assert.equal(await top(kept), was);
  console.log("ok: older items come in front without moving what is read");

  for (const path of SCREENS) {
    await go(server.address + path);
    await until(() => js("document.querySelector('[data-loading]') === null ? (document.querySelector('main')?.innerText ?? '') : ''"), (text) => text.length > 10, `${path} is there`);
    assert.equal(await js("document.documentElement.scrollWidth > innerWidth"), false, `${path} is not wider than the window`);
  }
  console.log(`ok: ${SCREENS.length} screens are there`);

  await go(`${server.address}/inbox/ledger/consent/c1`);
  const allow = "[...document.querySelectorAll('button')].find((one) => one.textContent.includes('Allow once'))";
  await until(() => js(`${allow} !== undefined`), (there) => there, "the ask is there");
  await sleep(1_500);
  await js(`void ${allow}.click()`);
  await until(() => server.commands.length, (n) => n === 1, "it is answered");
  assert.deepEqual(server.commands[0].command, { do: "allow", consent: "c1", action: "hash-c1", for_the_flow: false });
  server.drop();
  await until(() => js("document.querySelector('[data-line]').dataset.line"), (line) => line === "open", "it comes back");
  console.log("ok: an ask is answered once, and a broken line comes back");
} finally {
  if (session !== undefined) await call("DELETE", session).catch(() => undefined);
  for (const server of servers) await server.close();
  process.kill(-driver.pid);
}
process.exit(0);
