// Layouts of both directions, from the cache, at once for ordinary graphs and from a worker for big ones.
import { fetched } from "../../fetched";
import { LayoutCache, WORKER_ABOVE, direction, place, type Direction, type Order, type Placed, type Topology } from "../../layout";
import layoutWorker from "../../layout.worker?worker&url";
import { ask } from "../../worker";

const cache = new LayoutCache();

type Maker = (t: Topology, dir: Direction) => Order;
let maker: Maker | null = null;
const loading = fetched(() => import("../../order")).then((m) => (maker = m.order));

function kept(t: Topology, dir: Direction, make: Maker): Order {
  const hit = cache.get(t, dir);
  if (hit) return hit;
  const made = make(t, dir);
  cache.set(t, dir, made);
  return made;
}

async function soon(t: Topology, dir: Direction): Promise<Order> {
  const hit = cache.get(t, dir);
  if (hit) return hit;
  const here = async (): Promise<Order> => (await loading)(t, dir);
  const made = t.nodes.length > WORKER_ABOVE ? await ask<{ topology: Topology; dir: Direction }, Order>(layoutWorker, { topology: t, dir }).catch(here) : await here();
  cache.set(t, dir, made);
  return made;
}

/** Both pictures of a topology, or a promise of them when it is big and new. */
export function layouts(t: Topology): { tb: Placed; lr: Placed } | Promise<{ tb: Placed; lr: Placed }> {
  const both = (a: Order, b: Order) => ({ tb: place(t, a, "TB"), lr: place(t, b, "LR") });
  if (maker && t.nodes.length <= WORKER_ABOVE) return both(kept(t, "TB", maker), kept(t, "LR", maker));
  const a = cache.get(t, "TB");
  const b = cache.get(t, "LR");
  if (a && b) return both(a, b);
  const plain: Topology = { nodes: [...t.nodes], edges: t.edges.map(([x, y]) => [x, y] as const) };
  return Promise.all([soon(plain, "TB"), soon(plain, "LR")]).then(([x, y]) => both(x, y));
}

export { direction };
