// Moments and names as the strip and the graph say them; the rest is in words.ts.

const two = (n: number): string => String(n).padStart(2, "0");

/** 14:00:18, with the day before it when `now` is another day. */
export function clock(ms: number, seconds = true, now?: number): string {
  const d = new Date(ms);
  const time = `${two(d.getHours())}:${two(d.getMinutes())}${seconds ? `:${two(d.getSeconds())}` : ""}`;
  if (now === undefined || new Date(now).toDateString() === d.toDateString()) return time;
  return `${d.toLocaleDateString(undefined, { day: "numeric", month: "short" })} ${time}`;
}

/** The last moment until `last` at which a clock shows this, written as 14:05 or 14:05:12; null if it is no time of a day. */
export function momentOf(text: string, last: number): number | null {
  const [, ...shown] = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  const [hours = 24, minutes = 0, seconds = 0] = shown.map((part) => Number(part ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  const at = new Date(last);
  at.setHours(hours, minutes, seconds, 0);
  if (at.getTime() > last) at.setDate(at.getDate() - 1);
  return at.getTime();
}

/** 40 ms, 0.4 s, 12 s, 4m, 2h 10m, 3d: short enough for the corner of a card. */
export function tight(ms: number): string {
  if (ms < 100) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 1440) return minutes % 60 === 0 ? `${minutes / 60}h` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
  const hours = Math.floor((minutes % 1440) / 60);
  return hours === 0 ? `${Math.floor(minutes / 1440)}d` : `${Math.floor(minutes / 1440)}d ${hours}h`;
}

/** "just now", "12 s ago", "11 min ago", "3 h ago". */
export function agoWords(then: number, now: number): string {
  const gone = Math.max(0, now - then);
  if (gone < 5000) return "just now";
  if (gone < 60_000) return `${Math.round(gone / 1000)} s ago`;
  if (gone < 3_600_000) return `${Math.round(gone / 60_000)} min ago`;
  if (gone < 172_800_000) return `${Math.round(gone / 3_600_000)} h ago`;
  return `${Math.round(gone / 86_400_000)} days ago`;
}

/** The last part of a path: what fits on a chip. The title holds the whole path. */
export function baseName(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  return trimmed.slice(trimmed.lastIndexOf("/") + 1);
}
