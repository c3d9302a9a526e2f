//! Line diffs with word marks: what changed, and where in the line.
//!
//! The server sends hunks for what it knows. Where only two texts are known (an edit that waits for
//! an answer, two versions of an artifact) the lines are compared here, by Myers' greedy algorithm.

export type Op = ' ' | '+' | '-';
export interface DiffLine {
  op: Op;
  text: string;
}
export interface Hunk {
  old_start: number;
  new_start: number;
  lines: DiffLine[];
}
/** Part of a line; `hit` when it is what changed. */
export interface Word {
  text: string;
  hit: boolean;
}
/** A line ready to draw. */
export interface Row {
  op: Op;
  old: number | null;
  new: number | null;
  words: Word[];
}

/** Above this many lines a worker compares them. */
export const WORKER_ABOVE = 400;
/** Edits the search follows before it gives up and calls the rest replaced: it is quadratic in them. */
const MOST_EDITS = 2000;
/** Unchanged lines kept around a change. */
const CONTEXT = 3;
/** Longer lines are not compared word by word: they are data. */
const WORDS_UP_TO = 2000;

/** Lines of a text; a last empty line is no line. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  return lines.map((l) => (l.endsWith('\r') ? l.slice(0, -1) : l));
}

/** Myers' shortest edit script over anything comparable; deletions come before insertions. */
export function compare(a: readonly string[], b: readonly string[]): { op: Op; a: number; b: number }[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out: { op: Op; a: number; b: number }[] = [];
  for (let i = 0; i < head; i++) out.push({ op: ' ', a: i, b: i });
  for (const step of middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    out.push({ op: step.op, a: step.a + head, b: step.b + head });
  }
  for (let i = tail; i > 0; i--) out.push({ op: ' ', a: a.length - i, b: b.length - i });
  return out;
}

function replaced(a: readonly string[], b: readonly string[]): { op: Op; a: number; b: number }[] {
  return [...a.map((_, i) => ({ op: '-' as Op, a: i, b: 0 })), ...b.map((_, i) => ({ op: '+' as Op, a: a.length, b: i }))];
}

function middle(a: readonly string[], b: readonly string[]): { op: Op; a: number; b: number }[] {
  const n = a.length;
  const m = b.length;
  if (n === 0 || m === 0) return replaced(a, b);
  const most = Math.min(n + m, MOST_EDITS);
  const v = new Int32Array(2 * most + 2);
  const trail: Int32Array[] = [];
  const mid = most;
  for (let d = 0; d <= most; d++) {
    trail.push(v.slice(mid - d, mid + d + 1));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (v[mid + k - 1] ?? 0) < (v[mid + k + 1] ?? 0)) ? (v[mid + k + 1] ?? 0) : (v[mid + k - 1] ?? 0) + 1;
      let y = x - k;
      while (x < n && y < m && a[x] === b[y]) {
        x++;
        y++;
      }
      v[mid + k] = x;
      if (x >= n && y >= m) return back(a, b, trail, d);
    }
  }
  return replaced(a, b);
}

function back(a: readonly string[], b: readonly string[], trail: readonly Int32Array[], edits: number): { op: Op; a: number; b: number }[] {
  const out: { op: Op; a: number; b: number }[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = edits; d > 0; d--) {
    const v = trail[d] as Int32Array;
    const read = (k: number): number => v[k + d] ?? 0;
    const k = x - y;
    const before = k === -d || (k !== d && read(k - 1) < read(k + 1)) ? k + 1 : k - 1;
    const px = read(before);
    const py = px - before;
    while (x > px && y > py) {
      x--;
      y--;
      out.push({ op: ' ', a: x, b: y });
    }
    if (before === k + 1) {
      y--;
      out.push({ op: '+', a: x, b: y });
    } else {
      x--;
      out.push({ op: '-', a: x, b: y });
    }
  }
  while (x > 0 && y > 0) {
    x--;
    y--;
    out.push({ op: ' ', a: x, b: y });
  }
  return tidy(out.reverse());
}

/** Deletions before insertions inside one change. */
function tidy(steps: { op: Op; a: number; b: number }[]): { op: Op; a: number; b: number }[] {
  const out: { op: Op; a: number; b: number }[] = [];
  let plus: { op: Op; a: number; b: number }[] = [];
  for (const s of steps) {
    if (s.op === '+') plus.push(s);
    else if (s.op === '-') out.push(s);
    else {
      out.push(...plus, s);
      plus = [];
    }
  }
  out.push(...plus);
  return out;
}

/** Unified hunks of two texts. A text that is not there yet is empty. */
export function hunksOf(old: string, now: string, context = CONTEXT): Hunk[] {
  const a = linesOf(old);
  const b = linesOf(now);
  const steps = compare(a, b);
  const hunks: Hunk[] = [];
  let hunk: Hunk | null = null;
  let quiet = 0;
  let ai = 0;
  let bi = 0;
  steps.forEach((s, i) => {
    const text = s.op === '+' ? (b[s.b] ?? '') : (a[s.a] ?? '');
    if (s.op === ' ') {
      quiet++;
      if (hunk) {
        const ahead = steps.slice(i + 1, i + 1 + context * 2).findIndex((n) => n.op !== ' ');
        if (quiet <= context || (ahead >= 0 && quiet + ahead < context * 2)) hunk.lines.push({ op: ' ', text });
        else hunk = null;
      }
    } else {
      if (!hunk) {
        const lead = steps.slice(Math.max(0, i - Math.min(context, quiet)), i);
        hunk = { old_start: ai - lead.length + 1, new_start: bi - lead.length + 1, lines: lead.map((l) => ({ op: ' ' as Op, text: a[l.a] ?? '' })) };
        hunks.push(hunk);
      }
      quiet = 0;
      hunk.lines.push({ op: s.op, text });
    }
    if (s.op !== '+') ai++;
    if (s.op !== '-') bi++;
  });
  return hunks;
}

const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/** The changed words of a line that was replaced by another. */
export function wordMarks(old: string, now: string): { old: Word[]; now: Word[] } {
  const whole = { old: [{ text: old, hit: false }], now: [{ text: now, hit: false }] };
  if (old.length > WORDS_UP_TO || now.length > WORDS_UP_TO) return whole;
  const a = old.match(WORD) ?? [];
  const b = now.match(WORD) ?? [];
  const steps = compare(a, b);
  const same = steps.reduce((sum, s) => sum + (s.op === ' ' ? (a[s.a] ?? '').trim().length : 0), 0);
  // Two lines with little in common are two lines: marking everything would mark nothing.
  if (same * 3 < Math.max(old.trim().length, now.trim().length)) return whole;
  const left: Word[] = [];
  const right: Word[] = [];
  const add = (to: Word[], text: string, hit: boolean): void => {
    const before = to[to.length - 1];
    if (before && before.hit === hit) before.text += text;
    else to.push({ text, hit });
  };
  for (const s of steps) {
    if (s.op !== '+') add(left, a[s.a] ?? '', s.op === '-');
    if (s.op !== '-') add(right, b[s.b] ?? '', s.op === '+');
  }
  return { old: left, now: right };
}

/** Rows of one hunk with line numbers; runs of deletions and insertions are paired for word marks. */
export function rowsOf(hunk: Hunk): Row[] {
  const out: Row[] = [];
  let o = hunk.old_start;
  let n = hunk.new_start;
  const lines = hunk.lines;
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] as DiffLine;
    if (line.op === ' ') {
      out.push({ op: ' ', old: o++, new: n++, words: [{ text: line.text, hit: false }] });
      i++;
      continue;
    }
    const minus: string[] = [];
    const plus: string[] = [];
    while (lines[i]?.op === '-') minus.push((lines[i++] as DiffLine).text);
    while (lines[i]?.op === '+') plus.push((lines[i++] as DiffLine).text);
    const pairs = minus.slice(0, plus.length).map((m, j) => wordMarks(m, plus[j] ?? ''));
    minus.forEach((m, j) => out.push({ op: '-', old: o++, new: null, words: pairs[j]?.old ?? [{ text: m, hit: false }] }));
    plus.forEach((p, j) => out.push({ op: '+', old: null, new: n++, words: pairs[j]?.now ?? [{ text: p, hit: false }] }));
  }
  return out;
}

export function countOf(hunks: readonly Hunk[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const h of hunks) {
    for (const l of h.lines) {
      if (l.op === '+') added++;
      else if (l.op === '-') removed++;
    }
  }
  return { added, removed };
}

// ── what must never hide ──────────────────────────────────────────────────────────────────────
