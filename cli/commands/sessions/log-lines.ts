import { usage } from "../../failure.ts";

/** A line of a log, of a session's or of an app's. */
interface Line {
  at: string | null;
  source: string;
  text: string;
}

/** @throws CliError `usage`: what is followed has no end, and is no JSON value */
export function refuseToFollowAsJson(isJson: boolean): void {
  if (!isJson) return;
  throw usage("--follow prints lines as they come and no JSON value.", "Leave --json and --jq out.");
}

/** Strikes a line off those that were shown, once for each time that it was. @returns whether it was among them */
export function strikeOff(shown: readonly Line[]): (line: Line) => boolean {
  const left = new Map<string, number>();
  for (const line of shown) left.set(keyOf(line), (left.get(keyOf(line)) ?? 0) + 1);
  return (line) => {
    const count = left.get(keyOf(line)) ?? 0;
    if (count > 0) left.set(keyOf(line), count - 1);
    return count > 0;
  };
}

const keyOf = ({ at, source, text }: Line): string => JSON.stringify([at, source, text]);
