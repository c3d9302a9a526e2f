// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const RETROSPECTIVE = "retrospective";
export const LOOKS_BACK = "looks back on its work";
export const WROTE_ITS_FINDINGS = "wrote its findings";
export const FEEDBACK_REPORT = "feedback report";
export const WRITES_THE_REPORT = "writes the feedback report";
export const WROTE_THE_REPORT = "wrote the feedback report";
export const ORDER = {
  "graph-based": "in graph order",
  "parallel": "all at once",
  "none": "no retrospective",
} as const;
