//! Line diffs off the page, for texts above 400 lines.

import { hunksOf } from './diff';

addEventListener('message', (e: MessageEvent<{ old: string; now: string }>) => {
  postMessage(hunksOf(e.data.old, e.data.now));
});
