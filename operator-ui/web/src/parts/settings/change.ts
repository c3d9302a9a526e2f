// What the settings say to the server: changes of the operator's configuration, and trials of what is in it.
import { get, post } from "../../api";
import { KEY_NOT_TAKEN, KEY_PLACE, KEYS_ARE_NOT_WRITTEN, looksLikeAKey, NAME_A_KEYS_PLACE, SAY_WHERE_A_KEY_IS, SKILL_NOT_SAVED, SKILLS_HOLD_NO_KEY } from "../../said/settings";
import { capitals, inSentences } from "../../words";
import type { Fault, SettingChange, SettingDone, SkillChange, Trial, Tried } from "../../wire";

/** Changes the configuration as it was shown; one that changed since is refused. */
export const change = (version: string, what: SettingChange): Promise<SettingDone> => post<SettingDone>("/api/settings", { version, change: what });
/** What a change would be. Nothing is written. */
export const look = (version: string, what: SettingChange): Promise<SettingDone> => post<SettingDone>("/api/settings", { version, change: what, look: true });
/** A skill: one of the operator's own, or of a project. */
export const skill = (name: string, project: string | null): Promise<Skill> => get<Skill>(`/api/skill?${new URLSearchParams({ name, ...(project === null ? {} : { project }) })}`);
/** Changes a skill as it was shown; one that changed since is refused. */
export const changeSkill = (version: string, what: SkillChange): Promise<SettingDone> => post<SettingDone>("/api/skill", { version, change: what });
/** The part of a role's prompt that it would give. Nothing is written. */
export const lookAtSkill = (version: string, what: SkillChange): Promise<SettingDone> => post<SettingDone>("/api/skill", { version, change: what, look: true });
export const attempt = (what: Trial): Promise<Tried> => post<Tried>("/api/trials", what);

/** A refusal as sentences. */
export const told = (fault: Fault): string => { const { what, why, try: way } = inSentences(fault); return [what, why, way].filter((one) => one !== "").join(" "); };

/** From where a key comes, as the form offers it. */
export const PLACES = [["env", "A variable of the server's environment"], ["file", "A file only you can read"], ["keyring", "The system's keyring"]] as const;
export const PLACE_NAMES: Record<string, string> = capitals(KEY_PLACE);
export const PLACE_EXAMPLES: Record<string, string> = { env: "ANTHROPIC_API_KEY", file: "~/.keys/anthropic", keyring: "anthropic" };

/** Whether a text is likely to be a key and not the place of one. The server looks closer; what is found here never leaves. */
export function looksLikeKey(text: string): boolean {
  const random = (part: string): boolean => part.length >= 20 && /\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part);
  return /(^|[^A-Za-z0-9])(sk|pk|rk|gsk|xai|ghp|glpat|tvly|AIza)[-_A-Za-z0-9]{12,}/.test(text) || text.split(/[^A-Za-z0-9]/).some(random);
}
/** The refusals of a text that looks like a key, in the server's words; the text itself is neither sent nor kept. */
const NOT_SENT = "; it was not sent";
export const NO_KEYS: Fault = { code: "usage", what: KEY_NOT_TAKEN, why: `${looksLikeAKey("what was typed")}${NOT_SENT}; ${KEYS_ARE_NOT_WRITTEN}`, try: SAY_WHERE_A_KEY_IS };
export const NO_KEYS_IN_SKILLS: Fault = { code: "usage", what: SKILL_NOT_SAVED, why: `${SKILLS_HOLD_NO_KEY}${NOT_SENT}`, try: NAME_A_KEYS_PLACE };

export type Model = { name: string; provider: string; id: string; window_tokens: number; max_output_tokens: number; images: boolean; effort: string | null; input_micros: number | null; output_micros: number | null; prices: string | null; usual: boolean; named_by: string[] | null };
export type Provider = { name: string; wire: string; address: string; key: string | null; key_missing: string | null };
export type Known = { name: string; id: string; provider: string; wire: string; address: string; key_env: string | null; window_tokens: number; input_micros: number | null; output_micros: number | null };
export type Catalogue = { as_of: string; models: Known[] };

/** A server of the operator's own, as its editor begins; `withheld` where something of it looks like a key. */
export type Own = { withheld?: boolean; command?: string; arguments?: string[]; folder?: string | null; inherits?: string[]; url?: string; private?: boolean; values?: { name: string; text?: string; secret?: string; prefix?: string }[]; reads?: string[]; about?: string | null };

/** Who answers web_search, as far as it is configured. */
export type Service = { fault?: string; endpoint?: string; key?: string; key_missing?: string | null };

/** A skill as its folder holds it; without its text where that contains something that looks like a key. */
export type Skill = { name: string; description: string | null; text: string | null; told: string | null; withheld: boolean; path: string; files: { path: string; bytes: number }[]; faults: string[]; named_by: string[]; version: string };

type RuleLists = { mode: string | null; allow: string[]; deny: string[] };
type Limits = { tokens: number | null; answers: number; same_call: number };
/** What holds for all flows, as the configuration says it. */
export type Permissions = {
  modes: { mode: string; words: string }[];
  /** The mode of flows that choose none, where the configuration names none. */
  usual_mode: string;
  rules: { fault: string } | { file: string; version: string; own: RuleLists; workspace: RuleLists; workspace_file: string };
  policies: { fault: string } | { scope: "sandboxed" | "project" | "full"; folders: string[]; network: boolean; limits: Limits; usual_limits: Limits; notify: { command: string[]; on: string[] } | null };
};
