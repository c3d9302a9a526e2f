// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const KEY_NOT_TAKEN = "the key itself is not taken";
export const KEYS_ARE_NOT_WRITTEN = "keys are never written into the configuration";
export const SAY_WHERE_A_KEY_IS = "say where it is: in a variable, in a file that only you can read, or in the keyring";
export const SKILL_NOT_SAVED = "the skill was not saved";
export const SKILLS_HOLD_NO_KEY = "something in it looks like a key, and models read what skills say";
export const NAME_A_KEYS_PLACE = "say where the key is instead, such as the name of a variable";
export const SERVER_IS_YOURS = "yours";
export const SERVER_IS_APPROVED = "approved by you";
export const SERVER_CHANGED = "changed since you approved it: it waits for you again";
export const SERVER_IS_WANTED = "wanted by the workspace: it waits for you";
export const SERVER_IS_HIDDEN = "never used: a server of yours has this name";
export const looksLikeAKey = (what: string): string => `${what} looks like a key`;
export const modelAnswers = (name: string, text: string, input: string, output: string): string => `${name} answers: ${text} (${input} tokens in, ${output} out)`;
export const KEY_PLACE = {
  "env": "name of the variable",
  "file": "path of the file",
  "keyring": "name of the entry in the keyring",
} as const;
