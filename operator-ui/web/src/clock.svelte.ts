// One clock for all relative times. It ticks only while a component reads it.
import { createSubscriber } from "svelte/reactivity";
import { now as current } from "./backend";

function ticking(every: number): () => number {
  let now = current();
  const subscribe = createSubscriber((update) => {
    const timer = setInterval(() => {
      now = current();
      update();
    }, every);
    now = current();
    return () => clearInterval(timer);
  });
  return () => {
    subscribe();
    return now;
  };
}

/** Now, to the second. */
export const eachSecond = ticking(1_000);
/** Now, good enough for "2m" and "6h". */
export const eachMinute = ticking(20_000);
