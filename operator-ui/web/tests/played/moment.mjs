// The clock of the real program, set by a test. The program offers no such clock for a workspace, so that
// the system's one is replaced (`moment.c`): all times that it records and prints are the same in each run.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const SOURCE = new URL("moment.c", import.meta.url).pathname;
const bytes = (at) => { const eight = Buffer.alloc(8); eight.writeBigInt64LE(BigInt(at)); return eight; };

/** A clock in a folder. `why` says why there is none on this machine. */
export class Moment {
  constructor(folder) {
    const library = join(folder, "moment.so");
    const built = process.platform === "linux" ? spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, SOURCE], { encoding: "utf8" }) : null;
    this.why = built === null ? "time can be set on Linux only" : built.status === 0 ? null : `no C compiler makes the clock: ${built.error?.message ?? built.stderr}`;
    const path = join(folder, "moment");
    this.file = openSync(path, "w+");
    this.set("2026-03-03T12:00:00Z");
    this.environment = { LD_PRELOAD: library, PLAYED_MOMENT: path };
  }
  set(at) {
    this.now = typeof at === "number" ? at : Date.parse(at);
    writeSync(this.file, bytes(this.now), 0, 8, 0);
  }
  /** Lets time pass. */
  pass({ hours = 0, minutes = 0, seconds = 0 }) {
    this.set(this.now + ((hours * 60 + minutes) * 60 + seconds) * 1000);
  }
  close() {
    closeSync(this.file);
  }
}
