// When the messages of a feed are made one change. Pure.
//
// Each change of a feed is drawn, and drawing costs more than folding. What a person watches is drawn with the next
// frame; a replay comes in hundreds of messages, which are folded together and drawn a few times a second.

/** As long as a screen shows one picture. */
export const FRAME_MS = 16;
/** The longest that anything waits: a replay that takes longer is seen to move. */
export const REPLAY_MS = 150;
/** So many items at once are not watched one by one: the rest of them follows. */
export const MANY = 100;

export type Waiting = { items: number; /** When the first of them came. */ began: number };

/** How long a wait is counted by the second; after that the page shows minutes. */
const COUNTED_MS = 60_000;

/** The moment that a wait is counted up to: by the second at first, then by a clock that costs less. */
export function waitedUntil(since: number, coarse: () => number, exact: () => number): number {
  const now = coarse();
  return now - since < COUNTED_MS ? exact() : now;
}

/** How long what waits may go on waiting for more. */
export function restOf(waiting: Waiting, now: number, last: number, caughtUp: boolean): number {
  if (caughtUp && waiting.items < MANY) return Math.max(0, last + FRAME_MS - now);
  const most = Math.max(0, waiting.began + REPLAY_MS - now);
  // While catching up the server marks the end; of anything else it is the end when a frame passes without more of it.
  return caughtUp ? Math.min(FRAME_MS, most) : most;
}
