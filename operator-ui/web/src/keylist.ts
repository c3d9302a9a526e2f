// The keys in words, for the help and the settings; loaded with them. How a key is called comes from the table of keys, what
// it does from the table of words.
import { ACTIONS, keyName, nameOfChord, type Action, type ActionId } from "./keys";
import { ACT, IN_GRAPH, IN_TEXT, ON_STRIP } from "./said/acts";
import { ANSWER, CHOICE } from "./said/choices";
import { chord } from "./system";
import { capital } from "./words";

export type Line = { shown: string; words: string };

const line = (shown: string, words: string): Line => ({ shown, words: capital(words) });
const table = (of: Readonly<Record<string, string>>): Line[] => Object.entries(of).map(([shown, words]) => line(shown.replace(/^Mod (.+)$/, (_, key: string) => chord.mod(key)), words));
/** Keys of fields and lists, which belong to the part that has the focus. */
export const [inText, inGraph, onStrip] = [table(IN_TEXT), table(IN_GRAPH), table(ON_STRIP)] as const;

/** An answer is called as its button is. */
const ANSWERS: Partial<Record<ActionId, string>> = {
  "answer-yes": [CHOICE.allow, CHOICE.approve, CHOICE.continue].join(", "),
  "answer-flow": CHOICE["allow-flow"],
  "answer-no": [CHOICE.deny, CHOICE.decline].join(", "),
  "answer-reason": [CHOICE["deny-reason"], ANSWER].join(", "),
};
/** How its keys are called. Cards and roles have one for each, which are listed together. */
function shown({ id, chords }: Action): string {
  const [, typing] = chords;
  if (id === "role-tab") return `${keyName(id)} to ${chords.map(nameOfChord).at(-1) ?? ""}`;
  if (id === "stop-turn") return `${keyName(id)} twice`;
  const cards = id === "answer-first" ? ` to ${keyName("answer-fifth")}` : "";
  return `${keyName(id)}${cards}${typing?.alt === true ? `, in text ${nameOfChord(typing)}${cards}` : ""}`;
}

/** One line each, of all or of those that count in one place. */
export function lines(where: Action["where"] | null = null): Line[] {
  const words: Partial<Record<ActionId, string>> = { ...ACT, ...ANSWERS };
  return ACTIONS.flatMap((action) => {
    const act = where === null || action.where === where ? words[action.id] : undefined;
    return act === undefined ? [] : [line(shown(action), act)];
  });
}
