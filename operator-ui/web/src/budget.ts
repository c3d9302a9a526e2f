// What may be spent and what was: how full a budget is, its figures in words, and limits as they are typed. Pure.
import { amount, count, money, moneyExact, tokens } from "./words";
import type { FlowState, Measure, ShortBudget } from "./wire";

/** What can be bounded, in the order in which it is shown; the time of work has no limit. */
export const MEASURES = [
  { measure: "cost_micros", label: "Money", hint: "such as 5 or 0.50" },
  { measure: "tokens", label: "Tokens", hint: "such as 2M or 200k" },
  { measure: "turns", label: "Turns", hint: "such as 20" },
] as const satisfies readonly { measure: Measure; label: string; hint: string }[];

/** From here on a budget is nearly used up, and from here on there is hardly anything left. */
export const NEAR = 0.8;
export const LAST = 0.95;
export type Fill = "some" | "near" | "last" | "full";

/** The part that was spent, at most 1. A budget of nothing is used up. */
export const share = (spent: number, limit: number): number => (limit <= 0 ? 1 : Math.min(1, spent / limit));
export function fill(spent: number, limit: number): Fill {
  const part = share(spent, limit);
  return part >= 1 ? "full" : part >= LAST ? "last" : part >= NEAR ? "near" : "some";
}
/** Rounded down, so that nothing is called used up that is not. */
export const percent = (spent: number, limit: number): number => Math.floor(100 * share(spent, limit));

/** Money is spent; tokens and turns are used. */
export const usedWord = (measure: Measure): string => (measure === "cost_micros" ? "spent" : "used");
/** What is gone of a budget: $7.50 spent, 12 turns used. */
export const used = (measure: Measure, n: number): string => `${amount(measure, n)} ${usedWord(measure)}`;
/** A limit as its field shows it. */
export const typed = (measure: Measure, limit: number): string => (measure === "cost_micros" ? moneyExact(limit).slice(1) : String(limit));

/** A browser cannot distinguish larger numbers. */
const MOST = Number.MAX_SAFE_INTEGER;
const THOUSANDS: Record<string, number> = { "": 1, k: 1e3, m: 1e6 };

/** What was typed as a limit: a number, `null` for none, or `undefined` when it is neither. */
export function read(measure: Measure, text: string): number | null | undefined {
  const plain = text.trim().replace(/^\$\s*/, "").replace(/[\s_,](?=\d{3}(?:\D|$))/g, "").toLowerCase();
  if (plain === "" || plain === "none") return null;
  const parts = /^(\d+(?:\.\d+)?)\s*([km]?)$/.exec(plain);
  if (parts === null) return undefined;
  const [, digits = "", letter = ""] = parts;
  const number = Number(digits) * (THOUSANDS[letter] ?? 1) * (measure === "cost_micros" ? 1e6 : 1);
  const whole = Math.round(number);
  if (whole > MOST || (measure !== "cost_micros" && Math.abs(whole - number) > 1e-6)) return undefined;
  return whole;
}

/** What was spent of a measure, by a role or by the flow as a whole. */
export function spentOf(flow: FlowState, role: string | null, measure: Measure): number {
  const roles = Object.values(flow.roles);
  const whose = role === null ? null : roles.find((one) => one.instance === role);
  if (measure === "cost_micros") return whose === null ? flow.flow.cost_micros : (whose?.cost_micros ?? 0);
  if (measure === "tokens") return whose === null ? flow.flow.tokens : (whose?.tokens ?? 0);
  if (measure === "turns") return whose === null ? roles.reduce((all, one) => all + one.turns, 0) : (whose?.turns ?? 0);
  return 0;
}
export const limitsOf = (flow: FlowState, role: string | null): Record<string, number | undefined> => (role === null ? flow.flow.limits : (flow.roles[role]?.limits ?? {}));

/** A figure of a meter, short: money rounded, tokens as everywhere else. */
export const brief = (measure: Measure, n: number): string => (measure === "cost_micros" ? money(n) : measure === "tokens" ? tokens(n) : count(n));

/** Why the budget blocks the next request, in a sentence or two. */
export function why(short: ShortBudget): string {
  const whose = short.role === null ? "This flow" : short.role;
  const next = Math.max(0, short.least - short.spent);
  if (short.measure === "turns") return `${whose} may take ${amount("turns", short.limit)}, and the next would be one more.`;
  const spent = `${whose} ${usedWord(short.measure)} ${amount(short.measure, short.spent)} of ${amount(short.measure, short.limit)}.`;
  return next <= 1 ? spent : `${spent} The next request may take up to ${amount(short.measure, next)}, and ${amount(short.measure, Math.max(0, short.limit - short.spent))} is left.`;
}
