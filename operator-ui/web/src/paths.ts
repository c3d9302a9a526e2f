// Paths as people read them: from the record or the project, and cut in the middle, so that the name of the file stays. Pure.

/** A path of a flow's record wherever the record is: `…/.a-society/state/PROJECT/FLOW/record/x` is `record/x`. */
const RECORD = /(?:[^\s"'`(]*\/)?\.a-society\/state\/[^/\s"'`]+\/\d{8}T\d{9}Z-[0-9a-z]+\/record\//g;

/** A text with the paths of records as roles write them. */
export const fromRecord = (text: string): string => (text.includes(".a-society/state/") ? text.replace(RECORD, "record/") : text);

/** How many characters of a path fit in one line. */
const FITS = 48;

/** A path that is too long for its line keeps its beginning and the name of the file. */
export function cutMiddle(path: string, fits = FITS): string {
  if (path.length <= fits) return path;
  const slash = path.lastIndexOf("/");
  const name = slash < 0 ? path : path.slice(slash);
  // A name that is too long by itself keeps its end, where it differs from its neighbours.
  const end = Math.min(name.length, Math.ceil(fits * 0.7));
  const start = Math.max(1, fits - end - 1);
  return `${path.slice(0, start)}…${path.slice(path.length - end)}`;
}

/** A path in one line. */
export const shortPath = (path: string, fits = FITS): string => cutMiddle(fromRecord(path), fits);
