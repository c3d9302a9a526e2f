// How keys are called on this machine: with signs on Apple's systems, with words elsewhere. Pure, but for what it asks the browser.

type Machine = { userAgentData?: { platform?: string }; platform?: string };

/** Whether Command and Option are the keys of this machine. */
export const isApple = ({ userAgentData, platform }: Machine): boolean => /mac|iphone|ipad|ipod|ios/i.test(userAgentData?.platform || platform || "");

/** The names of chords with the key that commands, and with the one beside it. */
export function keyNames(apple: boolean): { mod: (key: string) => string; alt: (key: string) => string; onlyMod: string; onlyAlt: string } {
  // A sign needs no gap before another sign.
  return apple
    ? { mod: (key) => `⌘${key}`, alt: (key) => `⌥${key}`, onlyMod: "⌘", onlyAlt: "⌥" }
    : { mod: (key) => `Ctrl ${key}`, alt: (key) => `Alt ${key}`, onlyMod: "Ctrl", onlyAlt: "Alt" };
}

export const chord = keyNames(typeof navigator !== "undefined" && isApple(navigator as Machine));
