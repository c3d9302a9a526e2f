//! dagre off the page, for graphs above 150 nodes.

import type { Direction, Topology } from './layout';
import { order } from './order';

addEventListener('message', (e: MessageEvent<{ topology: Topology; dir: Direction }>) => {
  postMessage(order(e.data.topology, e.data.dir));
});
