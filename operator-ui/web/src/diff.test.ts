import { describe, expect, it } from 'vitest';
import { compare, countOf, hunksOf, linesOf, rowsOf, wordMarks, type Hunk } from './diff';
import { visible } from './unhidden';

const text = (...lines: string[]): string => lines.map((l) => `${l}\n`).join('');

/** Puts hunks on a text: what a diff is worth is that this gives the new text back. */
function apply(old: string, hunks: readonly Hunk[]): string[] {
  const a = linesOf(old);
  const out: string[] = [];
  let i = 0;
  for (const h of hunks) {
    while (i < h.old_start - 1) out.push(a[i++] ?? '');
    expect(out.length).toBe(h.new_start - 1);
    for (const l of h.lines) {
      if (l.op !== '+') expect(a[i]).toBe(l.text);
      if (l.op !== '-') out.push(l.text);
      if (l.op !== '+') i++;
    }
  }
  while (i < a.length) out.push(a[i++] ?? '');
  return out;
}

describe('a line diff', () => {
  it('gives the new text back when its hunks are put on the old one', () => {
    let s = 7;
    const roll = (n: number): number => {
      s = (Math.imul(s, 1103515245) + 12345) >>> 0;
      return s % n;
    };
    for (let round = 0; round < 300; round++) {
      const a = Array.from({ length: roll(30) }, () => `line ${roll(6)}`);
      const b = a.flatMap((l) => (roll(5) === 0 ? [] : roll(6) === 0 ? [l, `new ${roll(9)}`] : [l]));
      const old = text(...a);
      const hunks = hunksOf(old, text(...b));
      expect(apply(old, hunks)).toEqual(b);
    }
  });

  it('is empty for equal texts and whole for a new file', () => {
    expect(hunksOf('a\nb\n', 'a\nb\n')).toEqual([]);
    expect(hunksOf('', 'a\nb\n')).toEqual([{ old_start: 1, new_start: 1, lines: [{ op: '+', text: 'a' }, { op: '+', text: 'b' }] }]);
    expect(countOf(hunksOf('a\nb\n', ''))).toEqual({ added: 0, removed: 2 });
  });

  it('finds the shortest change', () => {
    const a = text('one', 'two', 'three', 'four');
    const b = text('one', '2', 'three', 'four', 'five');
    expect(countOf(hunksOf(a, b))).toEqual({ added: 2, removed: 1 });
    expect(compare(['a'], ['a'])).toEqual([{ op: ' ', a: 0, b: 0 }]);
  });

  it('keeps three lines around a change and begins a new hunk when changes are far apart', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `l${i}`);
    const now = [...lines];
    now[5] = 'x';
    now[30] = 'y';
    const hunks = hunksOf(text(...lines), text(...now));
    expect(hunks).toHaveLength(2);
    expect(hunks[0]?.old_start).toBe(3);
    expect(hunks[0]?.lines).toHaveLength(8);
  });

  it('gives up on two big unrelated texts instead of taking forever', () => {
    const a = Array.from({ length: 5000 }, (_, i) => `a${i}`).join('\n');
    const b = Array.from({ length: 5000 }, (_, i) => `b${i}`).join('\n');
    expect(countOf(hunksOf(a, b))).toEqual({ added: 5000, removed: 5000 });
  });

  it('numbers rows on both sides', () => {
    const rows = rowsOf({ old_start: 62, new_start: 62, lines: [{ op: '-', text: 'a' }, { op: '+', text: 'b' }, { op: '+', text: 'c' }, { op: ' ', text: 'd' }] });
    expect(rows.map((r) => [r.op, r.old, r.new])).toEqual([['-', 62, null], ['+', null, 62], ['+', null, 63], [' ', 63, 64]]);
  });
});

describe('word marks', () => {
  it('mark what changed in a line and nothing else', () => {
    const m = wordMarks('    let end = self.file.len();', '    let end = self.recover_tail()?;');
    expect(m.old.filter((w) => w.hit).map((w) => w.text).join('')).toContain('file');
    expect(m.now.filter((w) => w.hit).map((w) => w.text).join('')).toContain('recover_tail');
    expect(m.now.map((w) => w.text).join('')).toBe('    let end = self.recover_tail()?;');
    expect(m.now[0]).toEqual({ text: '    let end = self.', hit: false });
  });
  it('leave two unrelated lines whole', () => {
    expect(wordMarks('alpha beta gamma', 'one two three').now).toEqual([{ text: 'one two three', hit: false }]);
  });
});

describe('hidden characters', () => {
  it('are shown as escapes, and ordinary text is not touched', () => {
    expect(visible('safe\u202eevil\u200b')).toBe('safe\\u{202e}evil\\u{200b}');
    expect(visible('tab\tund Grüße 日本')).toBe('tab\tund Grüße 日本');
  });
});
