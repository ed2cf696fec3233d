/** A part of a version that may stand in a tag of an image. */
const MAJOR = /^v?(\d{1,3})(?:\.\d+)*$/;
const MINOR = /^[a-z-]*v?(\d{1,3}\.\d{1,3})(?:\.\w+)*$/;

/** `22` of `v22.1.0`; null of anything else, such as `lts/*`. */
export function majorOf(text: string): string | null {
  return MAJOR.exec(firstLine(text))?.[1] ?? null;
}

/** `3.12` of `3.12.1` or `ruby-3.12`; null of anything else. */
export function minorOf(text: string): string | null {
  return MINOR.exec(firstLine(text))?.[1] ?? null;
}

/**
 * The version that a range requires, at the precision of its numbers.
 * @param newest what a range without an upper bound gets, if it allows it
 * @returns `18` of `18.x` or `^18.2`, `3.11` of `>=3.9,<3.12`; null: the newest
 */
export function versionIn(range: string, isMinor: boolean, newest: string): string | null {
  const [, upper] = /<\s*(\d+(?:\.\d+)?)/.exec(range) ?? [];
  if (upper !== undefined && isMinor === upper.includes(".")) {
    const below = isMinor ? previousMinor(upper) : String(Number(upper) - 1);
    return below !== null && isBelow(below, newest) ? below : null;
  }
  const [, lower] = /^\s*(?:~=|==|=|\^|~)?\s*v?(\d+(?:\.\d+)?)(?:\.[\dx*]+)*\s*$/.exec(range) ?? [];
  // a caret allows all minor versions
  if (lower === undefined || (isMinor && (!lower.includes(".") || range.includes("^")))) return null;
  return isMinor ? lower : (lower.split(".")[0] ?? null);
}

function previousMinor(version: string): string | null {
  const [major, minor] = version.split(".").map(Number);
  return minor === undefined || minor === 0 ? null : `${major}.${minor - 1}`;
}

function isBelow(a: string, b: string): boolean {
  const [first, second] = [a, b].map((version) => version.split(".").map(Number));
  const difference = (index: number) => (first?.[index] ?? 0) - (second?.[index] ?? 0);
  return (difference(0) || difference(1)) < 0;
}

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .map((line) => line.replace(/#.*/, "").trim())
      .find((line) => line !== "") ?? ""
  );
}
