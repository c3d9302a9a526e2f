//! What is refused in the operator's configuration before anything is written, and the state of each server of tools.

use super::words;

words! {
    texts {
        /// A key was given where the place of one belongs.
        KEY_NOT_TAKEN = "the key itself is not taken";
        /// Why it is not.
        KEYS_ARE_NOT_WRITTEN = "keys are never written into the configuration";
        /// What is done instead.
        SAY_WHERE_A_KEY_IS = "say where it is: in a variable, in a file that only you can read, or in the keyring";
        /// A skill holds a key.
        SKILL_NOT_SAVED = "the skill was not saved";
        /// Why a skill may not.
        SKILLS_HOLD_NO_KEY = "something in it looks like a key, and models read what skills say";
        /// What a skill says instead.
        NAME_A_KEYS_PLACE = "say where the key is instead, such as the name of a variable";
        /// A server of tools that the operator configured.
        SERVER_IS_YOURS = "yours";
        /// One of the workspace that may run.
        SERVER_IS_APPROVED = "approved by you";
        /// One that is not what was approved.
        SERVER_CHANGED = "changed since you approved it: it waits for you again";
        /// One that was never approved.
        SERVER_IS_WANTED = "wanted by the workspace: it waits for you";
        /// One of the workspace with a name that is taken.
        SERVER_IS_HIDDEN = "never used: a server of yours has this name";
    }
    templates {
        /// What is refused, without repeating it.
        looks_like_a_key(what) = "{what} looks like a key";
        /// A model that was tried.
        model_answers(name, text, input, output) = "{name} answers: {text} ({input} tokens in, {output} out)";
    }
    names {
        /// What tells where a key is, by how it is found.
        key_place => "KEY_PLACE" {
            "env" = "name of the variable",
            "file" = "path of the file",
            "keyring" = "name of the entry in the keyring",
        }
    }
}
