// When an answer may count: not before there was time to read what it answers, and not while keys are being typed.

/** An ask is read, and typing has ended, when this long has gone by. */
export const GRACE = 400;

/** When the last key went down. A key that is held or only changes others is no typing. */
export class Typing {
  #last = Number.NEGATIVE_INFINITY;
  #before = Number.NEGATIVE_INFINITY;
  #seen: unknown = null;

  /** Notes a key. The same event counts once, however many listeners report it. */
  note(event: { key: string; timeStamp: number }): void {
    if (event === this.#seen || MODIFIERS.has(event.key)) return;
    this.#seen = event;
    this.#before = this.#last;
    this.#last = event.timeStamp;
  }

  /** How long before the current key the one before it was. */
  quiet(event: { timeStamp: number }): number {
    return event.timeStamp - (event === this.#seen ? this.#before : this.#last);
  }
}

const MODIFIERS = new Set(["Alt", "AltGraph", "Control", "Meta", "Shift", "CapsLock", "Fn", "OS"]);

/** Whether a key may answer what was painted at `painted`; null says that it is not painted yet. */
export function keyMayAnswer(painted: number | null, event: { timeStamp: number }, typing: Typing): boolean {
  return painted !== null && event.timeStamp - painted >= GRACE && typing.quiet(event) >= GRACE;
}

/** Whether a press of the pointer may answer: it only has to come after the ask can have been seen. */
export function pointerMayAnswer(painted: number | null, at: number): boolean {
  return painted !== null && at - painted >= GRACE;
}

export const typing = new Typing();
