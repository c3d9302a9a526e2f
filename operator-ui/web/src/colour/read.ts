// Reads code far enough to colour it: notes, texts, numbers and the words of a language. Pure.

export type Kind = "note" | "text" | "number" | "word";
export type Spot = { kind: Kind; from: number; to: number };

/** Longer ones are left as they are: colouring must never be felt. */
export const CHARS_MAX = 60_000;

type Grammar = { notes: string; texts: string; words: ReadonlySet<string>; /** Words however they are written. */ anyCase?: boolean };
const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
// Each ends somewhere, so that nothing is looked at twice.
const DOUBLE = '"(?:\\\\[^]|[^"\\\\\\n])*"?';
const SINGLE = "'(?:\\\\[^]|[^'\\\\\\n])*'?";
const TICKS = "`(?:\\\\[^]|[^`\\\\])*`?";
const SLASHES = "\\/\\/[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)";
const HASH = "(?<![^\\s;|&(])#[^\\n]*";

const GRAMMARS: Record<string, Grammar> = {
  script: { notes: `${SLASHES}|<!--[^]*?(?:-->|$)`, texts: `${DOUBLE}|${SINGLE}|${TICKS}`, words: words("as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null of private protected public readonly return set static super switch this throw true try type typeof undefined var void while with yield satisfies keyof declare namespace abstract") },
  rust: { notes: SLASHES, texts: `b?r#*"[^]*?"#*|b?${DOUBLE}|b?'(?:\\\\[^']+|[^'\\\\])'`, words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while") },
  go: { notes: SLASHES, texts: `${DOUBLE}|${SINGLE}|${TICKS}`, words: words("break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var") },
  java: { notes: `${SLASHES}|${HASH}`, texts: `"""[^]*?(?:"""|$)|${DOUBLE}|${SINGLE}`, words: words("abstract as assert async await boolean break byte case catch char class companion const constructor continue data def default defer delegate do double else enum event explicit extends extension false final finally float for foreach fun func get guard if implements import in init inline int interface internal is lateinit let lock long match namespace new nil null object open operator out override package private protected protocol public readonly record return sealed self set short static string struct super suspend switch this throw throws trait true try typealias typeof use using val var virtual void volatile when where while with yield echo function") },
  c: { notes: `${SLASHES}|(?<=^|\\n)[ \\t]*#[^\\n]*`, texts: `${DOUBLE}|${SINGLE}`, words: words("alignas alignof auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while") },
  python: { notes: "#[^\\n]*", texts: `[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${DOUBLE}|${SINGLE})`, words: words("False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield") },
  ruby: { notes: HASH, texts: `${DOUBLE}|${SINGLE}`, words: words("BEGIN END alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield") },
  lua: { notes: "--\\[\\[[^]*?(?:\\]\\]|$)|--[^\\n]*", texts: `\\[\\[[^]*?(?:\\]\\]|$)|${DOUBLE}|${SINGLE}`, words: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while") },
  shell: { notes: HASH, texts: `"(?:\\\\[^]|[^"\\\\])*"?|'[^']*(?:'|$)`, words: words("case do done elif else esac exit export fi for function if in local return set shift source then trap unset until while FROM RUN COPY ADD ENV ENTRYPOINT CMD WORKDIR EXPOSE ARG USER") },
  yaml: { notes: HASH, texts: `${DOUBLE}|'(?:''|[^'\\n])*(?:'|$)`, words: words("true false null yes no on off") },
  json: { notes: SLASHES, texts: DOUBLE, words: words("true false null") },
  sql: { notes: "--[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)", texts: `${SINGLE}|${DOUBLE}`, anyCase: true, words: words("add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with") },
  css: { notes: "\\/\\*[^]*?(?:\\*\\/|$)", texts: `${DOUBLE}|${SINGLE}`, words: words("important from to and not only") },
  markup: { notes: "<!--[^]*?(?:-->|$)", texts: `(?<==)${DOUBLE}|(?<==)${SINGLE}`, words: new Set() },
};
const NUMBER = "(?<![\\w.])(?:0[xob][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][+-]?\\d+)?)[a-zA-Z%]*";
/** A key of such a file is a word of it, as the name of an element is. */
const KEYS: Record<string, string> = { yaml: "(?<=^|\\n)[ \\t]*(?:- )*[\\w.\"-]+(?=[ \\t]*[:=](?:\\s|$))|(?<=^|\\n)\\[[^\\]\\n]+\\]", markup: "<\\/?[A-Za-z][\\w:-]*", css: "@[\\w-]+|(?<=[{;\\s])[\\w-]+(?=:)" };

const readers = new Map<string, RegExp>();
function readerOf(language: string, grammar: Grammar): RegExp {
  let reader = readers.get(language);
  if (reader === undefined) {
    const key = KEYS[language];
    reader = new RegExp(`(?<note>${grammar.notes})|${key === undefined ? "" : `(?<key>${key})|`}(?<text>${grammar.texts})|(?<number>${NUMBER})|(?<name>[\\p{L}_$][\\p{L}\\p{N}_$]*)`, "gu");
    readers.set(language, reader);
  }
  return reader;
}

/** What is to be coloured of a text, from its beginning on. */
export function spotsOf(text: string, language: string): Spot[] {
  const grammar = GRAMMARS[language];
  if (grammar === undefined || text.length > CHARS_MAX) return [];
  const spots: Spot[] = [];
  for (const found of text.matchAll(readerOf(language, grammar))) {
    const { note, key, text: said, number, name } = found.groups ?? {};
    const isWord = key !== undefined || (name !== undefined && grammar.words.has(grammar.anyCase === true ? name.toLowerCase() : name));
    const kind: Kind | null = note !== undefined ? "note" : said !== undefined ? "text" : number !== undefined ? "number" : isWord ? "word" : null;
    if (kind === null) continue;
    const blank = found[0].length - found[0].trimStart().length;
    spots.push({ kind, from: found.index + blank, to: found.index + found[0].length });
  }
  return spots;
}
