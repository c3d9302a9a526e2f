// Runs the tests in the browser. What fails is asked once more by itself, and is named when it holds then: a busy machine
// can be late once, and what is broken fails twice. When more than a few fail, nothing is asked again.
import { readdirSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** Failures that are asked again. More of them are no accident. */
const AGAIN_MAX = 3;
const FOLDER = new URL("../tests/", import.meta.url);
const given = process.argv.slice(2);
const all = readdirSync(FOLDER).filter((name) => name.endsWith(".test.mjs")).map((name) => new URL(name, FOLDER).pathname);

/** Runs tests, those of a name if there is one, and gives what failed and what held. */
async function outcomes(files, name) {
  const [failed, held] = [[], []];
  const stream = run({ files, concurrency: 1, ...(name === undefined ? {} : { testNamePatterns: [new RegExp(`^${RegExp.escape?.(name) ?? name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`)] }) });
  stream.on("test:fail", (one) => { if (one.nesting === 0) failed.push({ name: one.name, file: one.file }); });
  stream.on("test:pass", (one) => { if (!one.skip) held.push(one.name); });
  for await (const words of stream.compose(spec)) process.stdout.write(words);
  return { failed, held };
}

const { failed } = await outcomes(given.length > 0 ? given : all);
if (failed.length === 0) process.exit(0);
const again = failed.length <= AGAIN_MAX && failed.every((one) => one.file !== undefined) ? failed : [];
const twice = [];
for (const one of again) {
  const second = await outcomes([one.file], one.name);
  if (second.failed.length > 0 || !second.held.includes(one.name)) twice.push(one);
}
for (const one of again.filter((one) => !twice.includes(one))) console.log(`HELD ONLY WHEN ASKED AGAIN: ${one.name}`);
const broken = again.length > 0 ? twice : failed;
for (const one of broken) console.log(`FAILED: ${one.name} (${one.file})`);
process.exit(broken.length > 0 ? 1 : 0);
