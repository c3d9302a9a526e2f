// What a first load costs on the wire: everything that the page asks for by itself until it is quiet, its headers counted.

/** What was wanted is shown, and nothing was asked for or came for so long: the page is quiet. */
const QUIET_MS = 1_000;
const PATIENCE_MS = 30_000;

/**
 * Opens an address as a browser that has nothing of the page, waits for what it is to show, and gives what came, in the
 * order it was asked for: `{ path, bytes, from }`, where bytes are those of the answer and its headers, and `from` is
 * when it was asked for.
 */
export async function weigh(context, address, shown) {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  const asked = new Map();
  let last = Date.now();
  let told = 0;
  const stir = () => { last = Date.now(); };
  cdp.on("Network.requestWillBeSent", ({ requestId, request, timestamp }) => { stir(); asked.set(requestId, { path: new URL(request.url).pathname, bytes: 0, from: timestamp, open: true }); });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => { stir(); const one = asked.get(requestId); if (one !== undefined) Object.assign(one, { bytes: encodedDataLength, open: false }); });
  cdp.on("Network.loadingFailed", ({ requestId }) => { stir(); const one = asked.get(requestId); if (one !== undefined) one.open = false; });
  cdp.on("Network.webSocketFrameReceived", ({ response }) => { told += response.payloadData.length; });
  await page.goto(address);
  await shown(page);
  stir();
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() - last < QUIET_MS || [...asked.values()].some((one) => one.open)) {
    if (Date.now() > end) throw new Error("the page is never quiet");
    await new Promise((done) => setTimeout(done, 50));
  }
  await cdp.detach();
  const parts = [...asked.values()];
  const began = Math.min(...parts.map((one) => one.from));
  for (const one of parts) one.from = Math.round(1_000 * (one.from - began));
  return { page, complaints, parts, bytes: parts.reduce((sum, one) => sum + one.bytes, 0), told };
}
