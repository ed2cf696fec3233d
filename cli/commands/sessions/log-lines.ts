import { usage } from "../../failure.ts";

/** A line of a session's or an app's log. */
interface Line {
  at: string | null;
  source: string;
  text: string;
}

/** @throws CliError `usage` for --follow with JSON output */
export function rejectFollowWithJson(isJson: boolean): void {
  if (!isJson) return;
  throw usage("--follow cannot be used with --json or --jq.", "Leave out --json and --jq.");
}

/** Returns a function that reports whether a line was already shown, and consumes one occurrence of it. */
export function consumeLines(shown: readonly Line[]): (line: Line) => boolean {
  const left = new Map<string, number>();
  for (const line of shown) left.set(keyOf(line), (left.get(keyOf(line)) ?? 0) + 1);
  return (line) => {
    const count = left.get(keyOf(line)) ?? 0;
    if (count > 0) left.set(keyOf(line), count - 1);
    return count > 0;
  };
}

const keyOf = ({ at, source, text }: Line): string => JSON.stringify([at, source, text]);
