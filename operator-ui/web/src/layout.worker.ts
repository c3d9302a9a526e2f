//! dagre off the page, for graphs above 150 nodes.

import { order, type Direction, type Topology } from './layout';

addEventListener('message', (e: MessageEvent<{ topology: Topology; dir: Direction }>) => {
  postMessage(order(e.data.topology, e.data.dir));
});
