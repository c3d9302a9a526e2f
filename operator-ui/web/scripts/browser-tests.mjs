// Runs the tests in the browser, some files at a time, each with a browser of its own. With `--slice` about twenty of
// them run; with names of files, only those. With `--times` it says what took how long.
// What fails is not tried again: a test that holds by chance proves nothing.
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** So many files at a time: one more than there are processors, since tests wait for a page's own timers as well. */
const WORKERS = Math.min(3, availableParallelism() + 1);
const FOLDER = new URL("../tests/", import.meta.url);
const SUFFIX = ".test.mjs";
/** The files that take longest, begun first, so that no worker is left alone with one of them. */
const LONG = ["states", "pictures", "served", "views", "keys", "operator", "quality", "controls", "sizes", "approval"];
/** What always runs: every screen once, an ask that is answered, text that streams, a break of the line, what the page weighs, the real program. */
const SLICE = {
  quality: [/^the screen "/],
  approval: ["an ask that appears while somebody types with the focus in the composer is not decided", "a letter in the list decides once the ask has been there to be read"],
  operator: ["a feed opens at its end and stays there while text streams in"],
  states: ['when the line is lost the screen "feed" says so itself and moves nothing by a pixel, on a desk', "what is decided and said without a connection stands there as not sent, and is sent once"],
  weight: ["the inbox and the flow of a turn that waits for a person are small when they are loaded first"],
  binary: ["a flow is answered from the page of the program, up to the turn that a person takes"],
};

const given = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const [slice, times] = ["--slice", "--times"].map((option) => process.argv.includes(option));
const path = (name) => new URL(name + SUFFIX, FOLDER).pathname;
const all = readdirSync(FOLDER).filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
const rank = (name) => (LONG.includes(name) ? LONG.indexOf(name) : LONG.length);
const whole = all.sort((one, other) => rank(one) - rank(other) || one.localeCompare(other)).map(path);
const files = slice ? Object.keys(SLICE).map(path) : given.length > 0 ? given.map((name) => (all.includes(name) ? path(name) : name)) : whole;
const pattern = (name) => (name instanceof RegExp ? name : new RegExp(`^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`));
const wanted = slice ? Object.values(SLICE).flat().map(pattern) : undefined;
if (slice) process.env.A_SOCIETY_TEST_BROWSER_SLICE = "1";

const [held, skipped, failed] = [[], [], []];
// A test that is in another file of the slice by the same name is passed over by the runner, and counts as nothing.
const isMeant = (one) => one.nesting === 0 && (wanted === undefined || wanted.some((name) => name.test(one.name)));
const stream = run({ files, concurrency: WORKERS, ...(wanted === undefined ? {} : { testNamePatterns: wanted }) });
stream.on("test:fail", (one) => { if (one.nesting === 0) failed.push(one); });
stream.on("test:pass", (one) => { if (isMeant(one)) (one.skip === undefined ? held : skipped).push(one); });
const isTold = (event) => event.type === "test:fail" || event.type === "test:stdout" || event.type === "test:stderr" || (event.type === "test:pass" && isMeant(event.data));
async function* told() { for await (const event of stream) if (isTold(event)) yield event; }
for await (const words of Readable.from(told()).compose(spec)) process.stdout.write(words);

for (const one of failed) console.log(`FAILED: ${one.name} (${one.file})`);
const seen = [...held, ...skipped, ...failed].map((one) => one.name);
const lost = (wanted ?? []).filter((name) => !seen.some((one) => name.test(one)));
for (const name of lost) console.log(`FAILED: the slice wants a test that is not there: ${name}`);
console.log(`browser: ${held.length} passed, ${failed.length + lost.length} failed, ${skipped.length} skipped`);
if (times) tell();
process.exit(failed.length + lost.length > 0 || held.length === 0 ? 1 : 0);

/** What each file took by its tests, which tests took longest, and what all of it took. */
function tell() {
  const SLOWEST = 40;
  const line = (seconds, words) => console.log(`${seconds.toFixed(1).padStart(7)} s  ${words}`);
  const took = (one) => one.details.duration_ms / 1_000;
  const [byFile, ended] = [new Map(), [...held, ...failed].sort((one, other) => took(other) - took(one))];
  for (const one of ended) byFile.set(basename(one.file), (byFile.get(basename(one.file)) ?? 0) + took(one));
  console.log("\nFiles, by their tests:");
  for (const [name, seconds] of [...byFile].sort(([, one], [, other]) => other - one)) line(seconds, name);
  console.log(`The ${SLOWEST} tests that took longest:`);
  for (const one of ended.slice(0, SLOWEST)) line(took(one), `${one.name} (${basename(one.file)})`);
  line(performance.now() / 1_000, "in all");
}
