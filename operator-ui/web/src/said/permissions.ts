// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const YOU = "you";
export const NEVER_RUNS = "never runs";
export const RUNS_WITHOUT_ASKING = "runs without asking";
export const ASKED_AGAIN = "asked again";
export const OTHER_SURROUNDINGS = "you allowed this before, and its folder or its walls are not what they were";
export const F_COVERS = "f covers";
export const allowedBy = (who: string): string => `allowed by ${who}`;
export const allowedForFlowBy = (who: string): string => `allowed by ${who} for this flow`;
export const deniedBy = (who: string): string => `denied by ${who}`;
export const MODE = {
  "no-access": "asks every time",
  "partial-access": "partial access",
  "full-access": "full access",
} as const;
export const MODE_MEANS = {
  "no-access": "always asks, even for what you allowed before",
  "partial-access": "previously allowed actions no longer ask",
  "full-access": "never asks",
} as const;
export const SCOPE = {
  "sandboxed": "project and record folder only",
  "project": "project and record folder, and the folders you named, to read",
  "full": "full: everything, with commands unsandboxed",
} as const;
export const DECIDED = {
  "allow_once": "allowed once",
  "allow_flow": "allowed for this flow",
  "deny": "denied",
  "withdrawn": "withdrawn",
} as const;
export const CARD_ROW = {
  "Directory": "folder",
  "File": "file",
  "Files": "files",
  "Sandbox": "sandbox",
  "Network": "network",
  "Writes": "writes",
  "Time": "time",
  "Server": "server",
  "Environment": "environment",
  "Headers": "headers",
  "Tool": "tool",
  "Rule": "rule",
  "Existing permission": "permission",
} as const;
