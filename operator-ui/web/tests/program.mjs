// Where the real program is, for the tests that use it.
import { join } from "node:path";

export const root = new URL("../../../", import.meta.url).pathname;
export const binary = process.env.A_SOCIETY_BINARY ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/a-society");
