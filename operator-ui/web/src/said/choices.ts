// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const ALLOWED_ONCE = "allowed once";
export const ALLOWED_FOR_FLOW = "allowed for this flow";
export const BUDGET_RAISED = "budget raised";
export const ONCE = "once";
export const FOR_THIS_FLOW = "for this flow";
export const WITH_A_REASON = "with a reason";
export const LATER = "later";
export const ANSWER = "answer";
export const CHOOSE = "choose";
export const ANSWERED = "answered";
export const TOO_LONG = "the text is too long to be sent";
export const AS_A_FILE = "save it as a file of the project, and name the file in a short text";
export const raiseTo = (amount: string): string => `raise to ${amount}`;
export const longerThan = (bound: string): string => `it is longer than ${bound} MiB`;
export const CHOICE = {
  "allow": "allow once",
  "allow-flow": "allow for this flow",
  "deny": "deny",
  "deny-reason": "deny with a reason",
  "approve": "approve",
  "decline": "send back",
  "decline-reason": "send back with a reason",
  "retry": "retry turn",
  "retry-note": "say what to do instead",
  "raise": "raise",
  "amount": "another amount",
  "continue": "continue",
  "resume": "resume",
  "resume-note": "continue with a note",
  "grant": "write the report",
  "refuse": "no report",
} as const;
export const CHOSEN = {
  "allow": "allowed once",
  "allow-flow": "allowed for this flow",
  "deny": "denied",
  "deny-reason": "denied with a reason",
  "approve": "approved",
  "decline": "sent back",
  "decline-reason": "sent back with a reason",
  "retry": "retrying",
  "retry-note": "told what to do instead",
  "raise": "budget raised",
  "amount": "budget raised",
  "continue": "continued",
  "resume": "resumed",
  "resume-note": "continued with a note",
  "grant": "report allowed",
  "refuse": "report declined",
} as const;
