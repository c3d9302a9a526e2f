// Markdown as tokens that components draw. No markup of a model ever reaches the page as markup.
//
// While text streams only the last block is lexed again: blocks before it are settled and kept.
import { Lexer, type Token } from "marked";

export type Block = { key: number; tokens: Token[] };
const OPTIONS = { gfm: true, breaks: false } as const;

/** Lexed texts that are kept; a feed shows a few dozen at a time. */
const KEPT = 200;
const cache = new Map<string, Token[]>();

function lex(text: string): Token[] {
  const found = cache.get(text);
  if (found !== undefined) return found;
  const tokens = new Lexer(OPTIONS).lex(text);
  if (cache.size >= KEPT) {
    const oldest = cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
  }
  cache.set(text, tokens);
  return tokens;
}

/** A little of everything. */
const SAMPLE = "# a\n\nb `c` **d** _e_ [f](g)\n\n- h\n\n1. i\n\n> j\n\n```\nk\n```\n\n| l |\n| - |\n| m |\n\nhttps://n.example";
/** A browser is slow with its first texts, because it compiles the patterns. A page that waits for a feed parses a sample meanwhile. */
export function warm(): void {
  for (let time = 0; time < 2; time += 1) new Lexer(OPTIONS).lex(SAMPLE);
}

/** Where the last block begins: after the last empty line that is outside a fence. */
export function settledUpTo(text: string): number {
  let fence: string | null = null;
  let settled = 0;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (mark !== undefined && mark.charAt(0) === fence.charAt(0) && mark.length >= fence.length) fence = null;
    } else if (mark !== undefined) fence = mark;
    else if (line.trim() === "" && end >= 0 && !/^[ \t]/.test(text.slice(end + 1, end + 2))) settled = end + 1;
    if (end < 0) break;
    at = end + 1;
  }
  return settled;
}

/** The tokens of a text. `growing` says that more of it will come. */
export function markdown(text: string, growing: boolean): Token[] {
  if (!growing) return lex(text);
  const settled = settledUpTo(text);
  return settled === 0 ? new Lexer(OPTIONS).lex(text) : [...lex(text.slice(0, settled)), ...new Lexer(OPTIONS).lex(text.slice(settled))];
}

/**
 * The tokens, reusing the earlier objects where they are equal, since these are drawn already. Links that a text
 * defines are not part of its tokens, so that such a text is drawn anew.
 */
export function again(before: readonly Token[], tokens: Token[]): Token[] {
  const defines = (token: Token): boolean => token.raw.includes("]:");
  return tokens.some(defines) || before.some(defines) ? tokens : kept(before, tokens);
}

function kept(before: readonly Token[], tokens: readonly Token[]): Token[] {
  return tokens.map((token, at) => {
    const old = before[at];
    if (old === undefined || old.type !== token.type) return token;
    if (old.raw === token.raw) return old;
    // The text grows at its end: what precedes the end is drawn already.
    return "tokens" in token && token.tokens !== undefined && "tokens" in old && old.tokens !== undefined ? { ...token, tokens: kept(old.tokens, token.tokens) } : token;
  });
}

/** Where a link may lead: the web, mail and places of this page. Everything else is shown as text. */
export function safeLink(address: string): string | null {
  if (/^(https?:\/\/|mailto:)/i.test(address)) {
    try {
      return new URL(address).href;
    } catch {
      return null;
    }
  }
  return /^#e\d+$/.test(address) ? address : null;
}

const NAMED: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&apos;": "'", "&nbsp;": "\u00a0" };
/** Text as it was meant, for a text node. */
export const plain = (text: string): string => text.replace(/&(?:amp|lt|gt|quot|#39|apos|nbsp);/g, (name) => NAMED[name] ?? name);
