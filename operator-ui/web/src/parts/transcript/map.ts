// The context window as shares: what fills it, and how much is free. Pure.
import type { RoleView, Segment, TranscriptMessage } from "../../wire";
import { took } from "../../words";

export type Share = { name: string; tokens: number; look: "a" | "b" | "sum" | "c" | "d" | "free" };

const isResult = (kind: string): boolean => /result|tool_out/i.test(kind);
const isSummary = (kind: string): boolean => /summary|compact/i.test(kind);

/** Sizes by bytes are estimates. Where the model's own count is known all of them together are that, here and beside the
 * feed: `counted` is how much of the window its last request filled. */
export function shares(segments: readonly Segment[], live: readonly TranscriptMessage[], total: number, role: RoleView | null, counted = 0): Share[] {
  const of = (id: string): number => segments.find((s) => s.id === id)?.tokens ?? 0;
  const system = of("system");
  const tools = of("tools");
  const messages = of("live");
  const out: Share[] = [];
  if (system > 0) out.push({ name: "System prompt", tokens: system, look: "a" });
  if (tools > 0) out.push({ name: "Tools", tokens: tools, look: "b" });
  // Shares are known only when all of it is loaded.
  if (live.length === total && total > 0) {
    const sum = live.reduce((n, m) => n + (isSummary(m.kind) ? m.tokens : 0), 0);
    const results = live.reduce((n, m) => n + (isResult(m.kind) ? m.tokens : 0), 0);
    const rest = live.reduce((n, m) => n + m.tokens, 0) - sum - results;
    if (sum > 0) out.push({ name: "Summary", tokens: sum, look: "sum" });
    if (rest > 0) out.push({ name: "Messages", tokens: rest, look: "c" });
    if (results > 0) out.push({ name: "Tool results", tokens: results, look: "d" });
  } else if (messages > 0) out.push({ name: "Messages", tokens: messages, look: "c" });
  const guessed = out.reduce((n, s) => n + s.tokens, 0);
  if (counted > 0 && guessed > 0) {
    for (const share of out) share.tokens = Math.round((share.tokens * counted) / guessed);
    const last = out.at(-1);
    if (last !== undefined) last.tokens = Math.max(0, last.tokens + counted - out.reduce((n, s) => n + s.tokens, 0));
  }
  const used = out.reduce((n, s) => n + s.tokens, 0);
  if (role?.window_tokens != null && role.window_tokens > used) out.push({ name: "Free", tokens: role.window_tokens - used, look: "free" });
  return out;
}

const IN_LIVE = new Set(["Summary", "Messages", "Tool results"]);
/** How large a part of what the model sees is, as its share says. */
export const shareOf = (map: readonly Share[], part: "live" | "system" | "tools"): number => map.reduce((n, s) => n + (part === "live" ? (IN_LIVE.has(s.name) ? s.tokens : 0) : s.name === (part === "system" ? "System prompt" : "Tools") ? s.tokens : 0), 0);

const KINDS: Record<string, string> = { assistant_tool_calls: "Tool call", tool_call: "Tool call", tool_result: "Result", request: "Request" };

/** What a kind is called in the table. */
export function kindWords(kind: string): string {
  const known = KINDS[kind];
  if (known !== undefined) return known;
  const words = kind.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
export interface CallMade {
  name: string;
  input: unknown;
}

/** The calls a message makes, as it is kept. */
export function callsOf(raw: unknown): CallMade[] {
  if (typeof raw !== "object" || raw === null || !("calls" in raw) || !Array.isArray(raw.calls)) return [];
  return raw.calls.flatMap((call: unknown) => (typeof call === "object" && call !== null && "name" in call && typeof call.name === "string" ? [{ name: call.name, input: "input" in call ? call.input : null }] : []));
}
/** The text beside the calls; a message of calls only has none. */
export function textOf(content: string, calls: readonly CallMade[]): string {
  return calls.length > 0 && content.startsWith("[{") && content.endsWith("]") ? "" : content;
}
/** A text of Markdown as a line of a list: without the marks of its tables, headings, quotes and emphasis. */
export function unmarked(text: string): string {
  return text.split("\n").map((written) => {
    const line = written.trim();
    if (/^\|[|:\- ]*$/.test(line) || line.startsWith("```")) return "";
    const plain = line.replace(/^[#> ]+/, "").replaceAll("**", "").replaceAll("`", "");
    return line.startsWith("|") ? plain.replaceAll("|", " ") : plain;
  }).join("\n");
}

/** What tells one call of a tool from the next, in this order. */
const TELLING = ["command", "path", "file_path", "url", "query", "pattern", "glob", "name", "skill", "role", "targets"];
/** A call in one line: its name and what it was given that tells most. */
export function callWords(call: CallMade): string {
  const given = typeof call.input === "object" && call.input !== null ? (call.input as Record<string, unknown>) : {};
  const input = [...TELLING.map((name) => given[name]), ...Object.values(given)];
  const first = input.find((v) => typeof v === "string" || typeof v === "number");
  return `${call.name} ${first === undefined ? "" : String(first)}`.trim();
}

/** What came back for a request that failed. */
export function failureOf(raw: unknown): { words: string; body: string } | null {
  const failed = member(raw, "failed");
  const [what, body, wait] = [member(failed, "what"), member(failed, "error"), member(failed, "retry_in_ms")];
  if (typeof what !== "string" || typeof body !== "string") return null;
  return { words: typeof wait === "number" ? `${what}, retried after ${took(wait)}` : what, body };
}
/** How a message ended that did not end by itself: it was cut off, or it is still being written, which in a stopped flow it is
 * by no program. */
export const endOf = (raw: unknown, stopped: boolean): "cut" | "growing" | null => (member(raw, "interrupted") === true ? "cut" : member(raw, "draft") !== true ? null : stopped ? "cut" : "growing");
const member = (of: unknown, name: string): unknown => (typeof of === "object" && of !== null && name in of ? (of as Record<string, unknown>)[name] : undefined);

/** Whether a message is text of the model. */
export const said = (kind: string): boolean => /^assistant$/i.test(kind) || /^said$/i.test(kind);
export const isCall = (kind: string): boolean => /call/i.test(kind);
/** Whether a message is the result of a call that went wrong. */
export const isError = (raw: unknown): boolean => member(raw, "isError") === true;
/** The tool whose result a message is. */
export function toolOf(raw: unknown): string | null {
  const name = member(raw, "toolName");
  return typeof name === "string" ? name : null;
}
/** What a tool is for, as the model reads it. */
export function aboutTool(raw: unknown): string {
  const about = member(raw, "description");
  return typeof about === "string" ? about : "";
}
