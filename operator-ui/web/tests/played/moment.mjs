// The clock of the real program, set by a test. The program offers no such clock for a workspace, so that
// the system's one is replaced (`moment.c`): all times that it records and prints are the same in each run.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const SOURCE = new URL("moment.c", import.meta.url).pathname;
const bytes = (...numbers) => { const all = Buffer.alloc(8 * numbers.length); numbers.forEach((n, at) => all.writeBigInt64LE(BigInt(n), 8 * at)); return all; };

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
    this.began = 0;
    this.#write();
  }
  /** From now on time goes on by itself, from the moment that is set. */
  run() {
    this.began = Date.now();
    this.#write();
  }
  #write() {
    const both = bytes(this.now, this.began);
    writeSync(this.file, both, 0, both.length, 0);
  }
  close() {
    closeSync(this.file);
  }
}
