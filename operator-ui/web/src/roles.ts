// How a role looks: two letters and a hue that its name decides, the same on every screen.

const HUES = [85, 300, 235, 165, 20, 120, 200, 340, 50, 265, 145, 320] as const;

/** Two letters of a role's name. `owner_2` differs from `owner` by its number. */
export function letters(role: string): string {
  const [name = "", number] = role.split(/_(?=\d+$)/);
  const words = name.split(/[-_\s]+/).filter((word) => word !== "");
  const first = words[0] ?? "?";
  const two = words.length > 1 ? first.charAt(0) + (words[1] ?? "").charAt(0) : first.slice(0, 2);
  if (number !== undefined) return two.charAt(0).toUpperCase() + number.slice(-1);
  return two.charAt(0).toUpperCase() + two.slice(1).toLowerCase();
}

/** The hue of a role's tint, from its base name, so that instances of one role share it. */
export function hue(role: string): number {
  let sum = 7;
  for (const letter of role.replace(/_\d+$/, "")) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return HUES[sum % HUES.length] ?? 235;
}
