// The context window as shares: what fills it, and how much is free. Pure.
import type { RoleView, Segment, TranscriptMessage } from "../../wire";

export type Share = { name: string; tokens: number; look: "a" | "b" | "sum" | "c" | "d" | "free" };

const isResult = (kind: string): boolean => /result|tool_out/i.test(kind);
const isSummary = (kind: string): boolean => /summary|compact/i.test(kind);

export function shares(segments: readonly Segment[], live: readonly TranscriptMessage[], total: number, role: RoleView | null): Share[] {
  const of = (id: string): number => segments.find((s) => s.id === id)?.tokens ?? 0;
  const system = of("system");
  const tools = of("tools");
  const messages = of("live");
  const out: Share[] = [];
  if (system > 0) out.push({ name: "System prompt", tokens: system, look: "a" });
  if (tools > 0) out.push({ name: "Tools", tokens: tools, look: "b" });
  // Only when all of it is here can it be told apart.
  if (live.length === total && total > 0) {
    const sum = live.reduce((n, m) => n + (isSummary(m.kind) ? m.tokens : 0), 0);
    const results = live.reduce((n, m) => n + (isResult(m.kind) ? m.tokens : 0), 0);
    const rest = live.reduce((n, m) => n + m.tokens, 0) - sum - results;
    if (sum > 0) out.push({ name: "Summary", tokens: sum, look: "sum" });
    if (rest > 0) out.push({ name: "Messages", tokens: rest, look: "c" });
    if (results > 0) out.push({ name: "Tool results", tokens: results, look: "d" });
  } else if (messages > 0) out.push({ name: "Messages", tokens: messages, look: "c" });
  const used = out.reduce((n, s) => n + s.tokens, 0);
  if (role?.window_tokens != null && role.window_tokens > used) out.push({ name: "Free", tokens: role.window_tokens - used, look: "free" });
  return out;
}

/** What a kind is called in the table. */
export function kindWords(kind: string): string {
  const words = kind.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
/** Whether a message is something the model said. */
export const said = (kind: string): boolean => /^assistant$/i.test(kind) || /^said$/i.test(kind);
export const isCall = (kind: string): boolean => /call/i.test(kind);
export const isError = (kind: string, content: string): boolean => /error/i.test(kind) || /^(error|rejected)\b/i.test(content);
