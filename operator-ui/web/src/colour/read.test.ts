import { describe, expect, it } from "vitest";
import { languageOf } from "./language";
import { CHARS_MAX, spotsOf } from "./read";

const told = (text: string, language: string): string[] => spotsOf(text, language).map(({ kind, from, to }) => `${kind} ${text.slice(from, to)}`);

describe("the colours of code", () => {
  it("tell notes, texts, numbers and words apart", () => {
    expect(told('fn main() { let x = 0x1f; // "no text"\n  print!("a // no note \\" 1"); }', "rust")).toEqual(["word fn", "word let", "number 0x1f", 'note // "no text"', 'text "a // no note \\" 1"']);
    expect(told("def f(x):\n    '''of\n    two'''\n    return x1 # 3\n", "python")).toEqual(["word def", "text '''of\n    two'''", "word return", "note # 3"]);
    expect(told("a: 'it''s' # note\n- b.c: 12\n[part]\n", "yaml")).toEqual(["word a", "text 'it''s'", "note # note", "word - b.c", "number 12", "word [part]"]);
    expect(told('{"a": [true, -1.5e3, "b"]}', "json")).toEqual(['text "a"', "word true", "number 1.5e3", 'text "b"']);
    expect(told('if [ -f "$A" ]; then echo $#; fi # done', "shell")).toEqual(["word if", 'text "$A"', "word then", "word fi", "note # done"]);
    expect(told("SELECT a FROM b -- all\nwhere c = 'd'", "sql")).toEqual(["word SELECT", "word FROM", "note -- all", "word where", "text 'd'"]);
    expect(told('<a href="x">1</a><!-- b -->', "markup")).toEqual(["word <a", 'text "x"', "number 1", "word </a", "note <!-- b -->"]);
  });
  it("end with the text where something in it does not, and never overlap", () => {
    for (const language of ["script", "rust", "go", "java", "c", "python", "ruby", "lua", "shell", "yaml", "json", "sql", "css", "markup"]) {
      for (const text of ['"never ends', "/* never ends", "`never\nends", "'''a", "", "\u{1f600}'\\", "<!-- a", "[[ b"]) {
        let last = 0;
        for (const spot of spotsOf(text, language)) {
          expect(spot.from).toBeGreaterThanOrEqual(last);
          expect(spot.to).toBeGreaterThan(spot.from);
          last = spot.to;
        }
        expect(last).toBeLessThanOrEqual(text.length);
      }
    }
  });
  it("are not looked for in what is long, and read hostile code in time", () => {
    expect(spotsOf("1 ".repeat(CHARS_MAX), "rust")).toEqual([]);
    for (const language of ["script", "yaml", "css", "c", "shell", "markup", "rust"]) {
      for (const piece of ['"\\', "{;  ", "/*", "a-", " \t", "<!--", "r#", "0_"]) {
        const began = performance.now();
        spotsOf(piece.repeat(CHARS_MAX / piece.length - 1), language);
        expect(performance.now() - began).toBeLessThan(3_000);
      }
    }
  }, 120_000);
  it("are those of the file's name or of the word at the fence", () => {
    expect(["src/a.rs", "Makefile", "a/b.test.tsx", "python", "notes.md", "c", "plain"].map(languageOf)).toEqual(["rust", "shell", "script", "python", null, "c", null]);
  });
});
