// The focus is never lost. What has it may go away: a button that was pressed, a row that was answered, a sheet that
// closed. A browser then gives it to nothing, and without a pointer one starts at the top of the page again. Here
// it goes to the nearest region that is still there.

/** Whether a press on a link opens it here. */
export const plain = (event: Pick<MouseEvent, "button" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey">): boolean => event.button === 0 && !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;

const PLACES = "[data-region], [tabindex]";

/** The focused element and its ancestors, the nearest first. */
function chain(from: Element): Element[] {
  const all: Element[] = [];
  for (let at: Element | null = from; at !== null && at !== document.body; at = at.parentElement) all.push(at);
  return all;
}

/** Where the focus goes from something that is gone: to a part that holds it still, or to a part beside it. */
function refuge(lost: readonly Element[]): HTMLElement | null {
  const standing = lost.slice(1).find((one) => one.isConnected);
  for (let at: Element | null = standing ?? null; at !== null; at = at.parentElement) {
    if (at.matches(PLACES)) return at as HTMLElement;
    const inside = [...at.querySelectorAll<HTMLElement>("main, [data-region]")].find((one) => one.offsetParent !== null && one.closest("nav") === null);
    if (inside !== undefined) return inside;
  }
  return null;
}

/** Keeps the focus from now on. */
export function keepFocus(): () => void {
  let last: Element[] = [];
  const focused = (event: FocusEvent): void => { last = event.target instanceof Element ? chain(event.target) : []; };
  // A press beside everything takes the focus away on purpose.
  const left = (): void => { requestAnimationFrame(() => { if (document.activeElement === document.body && last[0]?.isConnected === true) last = []; }); };
  const observer = new MutationObserver(() => {
    const first = last[0];
    if (first === undefined || first.isConnected || document.activeElement !== document.body) return;
    const to = refuge(last);
    // A screen that is still being loaded has no place yet; it is looked for again when it comes.
    if (to === null) return;
    last = [];
    if (!to.matches("[tabindex], a[href], button, input, textarea, select")) to.tabIndex = -1;
    to.focus({ preventScroll: true });
  });
  document.addEventListener("focusin", focused);
  document.addEventListener("focusout", left);
  observer.observe(document.body, { subtree: true, childList: true });
  return () => {
    document.removeEventListener("focusin", focused);
    document.removeEventListener("focusout", left);
    observer.disconnect();
  };
}
