// Numbers and moments in words. Dates by `Intl`; everything else is one English.
import { because, LIMIT_RESETS, limitResetsIn, rateLimitOf, recovers, RETRYING, retryingIn, waitingForRateLimit, waitingToRecover } from "./said/status";
import type { Again, Fault, Measure } from "./wire";

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const clockSecond = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const dayMonth = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const grouped = new Intl.NumberFormat("en");

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An unknown moment gives an empty text: an unreadable record has none. */
const moment = (format: Intl.DateTimeFormat, at: string): string => (Number.isNaN(Date.parse(at)) ? "" : format.format(new Date(at)));
/** 14:05 */
export const time = (at: string): string => moment(clockTime, at);
/** 14:05:12 */
export const timeExact = (at: string): string => moment(clockSecond, at);
/** 4,812 */
export const count = (n: number): string => grouped.format(n);
/** "1 file", "7 files" */
export const several = (n: number, one: string, many = `${one}s`): string => `${grouped.format(n)} ${n === 1 ? one : many}`;

/** "a", "a and b", "a, b and c" */
export const list = (names: readonly string[]): string => (names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

/** How long ago, in a narrow column: now, 2m, 6h, Tue, 2 Nov. */
export function ago(at: string, now: number): string {
  const gone = Math.max(0, now - Date.parse(at));
  if (Number.isNaN(gone)) return "";
  if (gone < MINUTE) return "now";
  if (gone < HOUR) return `${Math.floor(gone / MINUTE)}m`;
  if (gone < DAY) return `${Math.floor(gone / HOUR)}h`;
  return gone < 6 * DAY ? weekday.format(new Date(at)) : dayMonth.format(new Date(at));
}

/** A duration in a sentence: "8 seconds", "2 minutes", "3 hours". */
export function spoken(ms: number): string {
  if (ms < MINUTE) return several(Math.max(1, Math.round(ms / SECOND)), "second");
  if (ms < HOUR) return several(Math.floor(ms / MINUTE), "minute");
  return ms < DAY ? several(Math.floor(ms / HOUR), "hour") : several(Math.floor(ms / DAY), "day");
}

/** A minute and more, rounded before it is parted, so that there are never sixty minutes: 8 m, 1 h 4 m, 3 d 2 h. */
function long(ms: number, minute: string): string {
  const minutes = Math.round(ms / MINUTE);
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} ${minute}`;
  return hours < 48 ? `${hours} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} ${minute}`}` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A duration in a column: 0.1 s, 11 s, 8 m, 1 h 4 m. */
export function took(ms: number): string {
  if (ms < 50) return "0 s";
  if (ms < 9_950) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  return seconds < 60 ? `${seconds} s` : long(ms, "m");
}

/** A duration in a header: 41 min, 2 h 5 min, 11 d 4 h. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / SECOND));
  return seconds < 60 ? `${seconds} s` : long(ms, "min");
}

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
/** A table of words, each at the beginning of a sentence. */
export const capitals = <K extends string>(table: Readonly<Record<K, string>>): Record<K, string> => Object.fromEntries(Object.entries<string>(table).map(([key, words]) => [key, capital(words)])) as Record<K, string>;

/** The time until something, as the terminal says it: 18 s, 44 min, 1 h, 2 h 30 min. */
export function left(ms: number): string {
  const seconds = Math.ceil(ms / SECOND);
  const minutes = Math.ceil(seconds / 60);
  if (seconds <= 90) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`;
}

/** What a provider lets a request wait for, without the time; null where the request failed itself. */
export const heldWords = ({ held_by, failing }: Again): string | null => (held_by === undefined ? null : (failing === true ? recovers : rateLimitOf)(held_by));

/** What goes on by itself, and when: "Retrying in 18 s", "Limit resets in 44 min". */
export function goesOn(again: Again, now: number): string {
  const ms = Date.parse(again.at) - now;
  const held = heldWords(again);
  if (held !== null) return capital(ms > 0 ? (again.failing === true ? waitingToRecover : waitingForRateLimit)(again.held_by ?? "", left(ms)) : held);
  const [soon, over] = again.limit ? [limitResetsIn, LIMIT_RESETS] as const : [retryingIn, RETRYING] as const;
  return capital(ms > 0 ? soon(left(ms)) : over);
}

/** The same with why it waits, where there is room for that. */
export const goesOnBecause = (again: Again, now: number): string => (again.why === undefined ? goesOn(again, now) : because(goesOn(again, now), again.why));

/** How a flow stands while some of it waits for its next try and the rest works. */
export const besides = (word: string, again: Again, now: number): string => `${word}, ${goesOn(again, now).replace(/^./, (first) => first.toLowerCase())}`;

/** Tokens, cut off as the terminal does: 640, 122k, 1.24M. */
export function tokens(n: number): string {
  const cut = (unit: number, digits: number): string => (Math.floor(n / (unit / 10 ** digits)) / 10 ** digits).toFixed(digits);
  if (n < 1_000) return String(n);
  return n < 1_000_000 ? `${cut(1_000, n < 10_000 ? 1 : 0)}k` : `${cut(1_000_000, 2)}M`;
}

/** Money from millionths of a dollar. */
export function money(micros: number): string {
  const dollars = micros / 1_000_000;
  return dollars > 0 && dollars < 0.01 ? "< $0.01" : `$${dollars.toFixed(2)}`;
}

/** Money to the last digit that counts: a limit that is set has to be read as it is. */
export function moneyExact(micros: number): string {
  const text = (micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, "");
  return `$${text}`;
}
/** A figure of a measure: $7.50, 2,000,000 tokens, 1 turn. */
export function amount(measure: Measure, n: number): string {
  if (measure === "cost_micros") return moneyExact(n);
  if (measure === "wall_ms") return `${count(Math.round(n / 1_000))} seconds of work`;
  const one = measure === "tokens" ? "token" : "turn";
  return `${count(n)} ${n === 1 ? one : `${one}s`}`;
}

/** Bytes: 312 B, 4.1 KB. */
export function bytes(n: number): string {
  if (n < 1_024) return `${n} B`;
  return n < 1_048_576 ? `${(n / 1_024).toFixed(1)} KB` : `${(n / 1_048_576).toFixed(1)} MB`;
}

/** Which of two names or moments of the wire comes first. Code points do; a language's own order is dear in long lists. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A sentence in pieces: what is between backticks is the name of something. */
export const ticked = (text: string): { text: string; code: boolean }[] => text.split(/`([^`\n]+)`/).map((piece, at) => ({ text: piece, code: at % 2 === 1 })).filter((piece) => piece.text !== "");
/** The same where there is no room for code: without the marks. */
export const unticked = (text: string): string => ticked(text).map((piece) => piece.text).join("");

/** Words that a sentence begins with; anything else may be a name, a path or a command. */
const OPENS = /^(?:the|this|that|it|its|no|nothing|nobody|a|an|only|there|they|some|each|every|another|unknown|load|take|name|check|see|correct|send|import|add|cannot|start|give|choose|wait|open|look|use|make|write|say|set|put|at|in|of|for|if|while|where|when|what|something|keys|roles that)(?= )/;
/** A line of a terminal as a sentence of a page; a command at its end stays as it is typed. */
function sentence(text: string): string {
  const said = text.trim().replace(OPENS, (word) => word.charAt(0).toUpperCase() + word.slice(1));
  if (said === "" || /[.!?:]$/.test(said)) return said;
  return said.includes("a-society ") ? said : `${said}.`;
}
/** A fault in sentences, whatever its source: the page shows them one after another. */
export function inSentences(fault: Fault): Fault {
  // A command with placeholders is for a reader at a terminal; the page leaves it out.
  const said = fault.try.replace(/(?:^|: )a-society [^\n]*\b(?:FLOW|ROLE|NODE|FILE)\b[^\n]*$/, "");
  const way = said.startsWith("a-society ") ? `Try: ${said}` : sentence(said);
  return { ...fault, what: unticked(sentence(fault.what)), why: unticked(sentence(fault.why)), try: way };
}
