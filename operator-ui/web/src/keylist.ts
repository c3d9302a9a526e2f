// The keys in words, for the help and the settings; loaded with them.
import { ACTIONS, type Action, type ActionId } from "./keys";
import { chord } from "./system";

export type Line = { shown: string; words: string };

/** How a key is called, and what it does. Those that are listed with another have none. */
const SAID: Partial<Record<ActionId, [shown: string, words: string]>> = {
  palette: [chord.mod("K"), "Search, jump, command"],
  help: ["?", "All keys"],
  "go-inbox": ["G I", "Inbox"],
  "go-flows": ["G F", "Flows"],
  "previous-waiting": ["[", "Previous waiting item"],
  "next-waiting": ["]", "Next waiting item"],
  down: ["J", "Next in the list"],
  up: ["K", "Previous in the list"],
  open: ["Enter", "Open"],
  "open-in-flow": ["O", "Open in its flow"],
  "answer-yes": [`Y, in text ${chord.alt("Y")}`, "Allow once, approve, continue"],
  "answer-flow": [`F, in text ${chord.alt("F")}`, "Allow for this flow"],
  "answer-no": [`N, in text ${chord.alt("N")}`, "Deny or decline"],
  "answer-reason": ["R", "Deny with a reason, or answer"],
  "answer-first": [`1, 2, 3, in text ${chord.alt("1")}, 2, 3`, "Choose in a card of choices"],
  "show-all": [`V, in text ${chord.alt("V")}`, "Show all of a call that is asked about"],
  snooze: ["E", "Snooze for 30 minutes"],
  "role-tab": ["1 to 9", "Feed of that role"],
  view: ["Shift V", "Graph or outline"],
  find: ["/", "Find here"],
  transcript: ["T", "Transcript of the role"],
  diff: ["D", "Everything the flow changed"],
  "stop-turn": [". twice", "Stop the turn"],
  "previous-event": [",", "Previous event"],
  "next-event": [";", "Next event"],
  live: ["L", "Back to now"],
  fork: ["Shift F", "Fork from here"],
  "new-flow": ["Shift N", "Start a flow"],
  composer: ["C", "Write to the role"],
  region: ["F6", "Next region of the page"],
  close: ["Esc", "Close what was opened, then back to now"],
};

/** Keys of fields and lists, which belong to the part that has the focus. */
export const IN_TEXT: readonly Line[] = [
  { shown: "Enter", words: "Send" },
  { shown: "Shift Enter", words: "A new line" },
  { shown: chord.mod("Enter"), words: "Send and follow; in the search, open beside" },
];

/** One line each, of all or of those that count in one place. */
export function lines(where: Action["where"] | null = null): Line[] {
  return ACTIONS.flatMap((action) => {
    const said = where === null || action.where === where ? SAID[action.id] : undefined;
    return said === undefined ? [] : [{ shown: said[0], words: said[1] }];
  });
}
