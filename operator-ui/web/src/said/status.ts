// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const WORKING = "working";
export const CORRECTING = "correcting";
export const RETRYING = "retrying";
export const LIMITED = "limited";
export const LIMIT_RESETS = "limit resets";
export const COMPACTING = "compacting";
export const WAITING_FOR_YOU = "waiting for you";
export const YOUR_TURN = "your turn";
export const WAITING_FOR_HANDOFF = "waiting for a handoff";
export const PAUSED = "paused";
export const STOPPED = "stopped";
export const NOBODY_DRIVES_IT = "stopped: nobody drives it";
export const DAMAGED = "damaged";
export const LEDGER_UNREACHABLE = "ledger unreachable";
export const READY = "ready";
export const NOT_REACHED = "not reached";
export const DONE = "done";
export const COMPLETED = "completed";
export const CANCELLED = "cancelled";
export const WAITING = "waiting";
export const FAILED = "failed";
export const retryingIn = (time: string): string => `retrying in ${time}`;
export const waitingForRateLimit = (provider: string, time: string): string => `waiting for the rate limit of ${provider}, ${time}`;
export const rateLimitOf = (provider: string): string => `waiting for the rate limit of ${provider}`;
export const limitResetsIn = (time: string): string => `limit resets in ${time}`;
export const waitingFor = (nodes: string): string => `waiting for ${nodes}`;
