import { CliError } from "./failure.ts";
import { oneLine } from "./text.ts";

/**
 * The item whose id begins with a text.
 * @param noun what it is, for the error
 * @param hint how to list them
 * @throws CliError `not_found` for none, or several
 */
export function findById<T>(
  items: readonly T[],
  idOf: (item: T) => string,
  wanted: string,
  { noun, hint }: { noun: string; hint: string },
): T {
  const [first, second] = items.filter(
    (item) => wanted !== "" && idOf(item).startsWith(wanted.toLowerCase()),
  );
  if (first !== undefined && second === undefined) return first;
  const shown = oneLine(wanted.slice(0, 80));
  const why = first === undefined ? `There is no ${noun} "${shown}".` : `Several ids begin with "${shown}".`;
  throw new CliError("not_found", why, { hint });
}
