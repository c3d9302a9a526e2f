// When the system notifies that something waits, and in which words. Pure.
import { several } from "./words";
import { refKey } from "./router";
import type { Ask, FlowRow } from "./wire";

/** An ask is worth a notification when it is this old and still open, and one comes at most this often. */
export const OLD_ENOUGH_MS = 5_000;
export const EVERY_MS = 10_000;

/** How long until the next notification; null when nothing is. */
export function due(asks: readonly Ask[], told: ReadonlySet<string>, last: number, now: number): number | null {
  const since = asks.filter((ask) => !told.has(ask.id)).map((ask) => Date.parse(ask.since));
  return since.length === 0 ? null : Math.max(Math.min(...since) + OLD_ENOUGH_MS - now, last + EVERY_MS - now, 0);
}

/** The asks to notify about now: those not notified before that have waited long enough. */
export function ripe(asks: readonly Ask[], told: ReadonlySet<string>, now: number): Ask[] {
  return asks.filter((ask) => !told.has(ask.id) && Date.parse(ask.since) + OLD_ENOUGH_MS <= now);
}

/** One line about all of them. What waits is a role, however much it asks; or a flow, where no role asks. */
export function headline(asks: readonly Ask[]): string {
  const [first] = asks;
  if (asks.length === 1 && first !== undefined) return first.headline;
  const count = (of: readonly Ask[]): number => new Set(of.map((ask) => `${ask.flow.project}/${ask.flow.flow} ${ask.role ?? ""}`)).size;
  const roles = count(asks.filter((ask) => ask.role !== null));
  const flows = count(asks.filter((ask) => ask.role === null));
  if (roles === 1 && flows === 0 && first !== undefined) return `${first.role} waits, with ${asks.length} requests`;
  const parts = [roles > 0 ? several(roles, "role") : "", flows > 0 ? several(flows, "flow") : ""].filter((part) => part !== "");
  return `${parts.join(" and ")} ${roles + flows === 1 ? "waits" : "wait"}`;
}

/** The flows that were completed since they were last seen unfinished. `unfinished` is what was seen so far, and is kept
 * up to date. One that the operator cancelled is none: they know. */
export function completed(rows: readonly FlowRow[], unfinished: Set<string>): FlowRow[] {
  const done = rows.filter((row) => row.standing === "completed" && unfinished.has(refKey(row)));
  for (const row of rows) {
    if (row.over) unfinished.delete(refKey(row));
    else unfinished.add(refKey(row));
  }
  return done;
}

/** Where they wait, each flow once. */
export const places = (asks: readonly Ask[]): string => [...new Set(asks.map((ask) => ask.title))].join(", ");
