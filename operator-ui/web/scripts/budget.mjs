// Holds the page to its size: what is loaded first, and each part that is loaded later, as brotli.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const KIB = 1024;
const FIRST_JS = 75 * KIB;
const FIRST_CSS = 9 * KIB;
const LATER = 25 * KIB;
const dist = new URL("../dist/", import.meta.url).pathname;
const assets = join(dist, "assets");

const size = (name) => brotliCompressSync(readFileSync(join(assets, name)), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
const html = readFileSync(join(dist, "index.html"), "utf8");
const named = [...html.matchAll(/\/assets\/([\w.-]+)/g)].map((match) => match[1]);
const first = new Set(named);
// Static imports of what is loaded first are loaded first as well.
for (const name of first) {
  if (!name.endsWith(".js")) continue;
  for (const match of readFileSync(join(assets, name), "utf8").matchAll(/(?:^|[;}\s])(?:import|export)\s*(?:[\w*{}\s,$]+from\s*)?["']\.\/([\w.-]+)["']/g)) first.add(match[1]);
}

let over = false;
const report = (what, bytes, most) => {
  const bad = bytes > most;
  over ||= bad;
  console.log(`${bad ? "OVER " : "     "}${what.padEnd(34)} ${(bytes / KIB).toFixed(1).padStart(6)} of ${(most / KIB).toFixed(0)} KiB`);
};
const sum = (names) => names.reduce((total, name) => total + size(name), 0);
report("first script", sum([...first].filter((name) => name.endsWith(".js"))), FIRST_JS);
report("first style", sum([...first].filter((name) => name.endsWith(".css"))), FIRST_CSS);
for (const name of readdirSync(assets).sort()) if (!first.has(name)) report(name, size(name), LATER);
// A file must not contain anything that could end the element around it, and must load nothing.
const FILE_JS = 150 * KIB;
for (const name of readdirSync(join(dist, "file"))) {
  const text = readFileSync(join(dist, "file", name), "utf8");
  report(`file/${name}`, brotliCompressSync(text).length, FILE_JS);
  if (/<\/?(script|style)|import\s*\(|sourceMappingURL/i.test(text)) {
    console.log(`file/${name} holds what cannot stand in a document, or asks for another file`);
    over = true;
  }
}
if (readdirSync(join(dist, "file")).join() !== "page.css,page.js") over = true;
if (over) process.exit(1);
