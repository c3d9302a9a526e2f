// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const CUT_OFF = "cut off";
export const DISCARDED = "discarded";
export const NO_ANSWER = "the model did not answer";
export const EMPTY_ANSWER = "the answer is empty";
export const WITHOUT_SERVER = "works without the MCP server";
export const COMPACTING_CONTEXT = "compacting the context";
export const rateLimitedBy = (provider: string): string => `rate limited by ${provider}`;
export const exitCode = (code: string): string => `exit ${code}`;
export const exitSignal = (number: string): string => `signal ${number}`;
export const contextCompacted = (tokens: string): string => `context compacted from ${tokens} tokens`;
export const CALL_END = {
  "done": "done",
  "failed": "failed",
  "denied": "denied",
  "stopped": "stopped by you",
  "timed_out": "timed out",
  "not_run": "did not run",
  "unknown": "outcome unknown: check it",
  "recovered": "found done after a crash",
} as const;
export const TURN_END = {
  "outcome": "turn finished",
  "waiting": "turn paused",
  "stopped": "turn stopped",
  "failed": "turn failed",
  "turn_limit": "turn reached its limit of requests",
} as const;
export const FAILURE = {
  "cut_off": "the model's answer was cut off",
  "stalled": "the model stopped in the middle of its answer",
  "timeout": "the model did not answer in time",
  "network": "the model's provider was not reached",
  "tls": "no secure connection to the model's provider",
  "garbled": "the model's answer could not be read",
  "not_a_provider": "nothing at the provider's address answers as a model",
  "rate_limit": "the provider's limit was reached",
  "overloaded": "the model's provider is overloaded",
  "server": "the model's provider failed",
  "spend_limit": "the provider's account has no money left",
  "key": "the provider does not accept the key",
  "forbidden": "the provider does not allow this request",
  "not_found": "the provider does not have this model",
  "too_large": "the request is too large for the provider",
  "window_full": "the session no longer fits the model's window",
  "policy": "the provider refused the content",
  "bad_request": "the provider did not understand the request",
  "circuit_open": "the provider failed too often to be asked again now",
} as const;
