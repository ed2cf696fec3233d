import type { Context } from "../../context.ts";
import { lines, oneLine } from "../../text.ts";
import type { ScaffoldFile } from "./scaffold.ts";

/** Lines shown of a change. */
const SHOWN_MAX = 40;

/** Whether to replace an existing file: with --force, or after a prompt that shows the change. */
export function replacer(
  context: Context,
  { force, yes, "dry-run": dryRun }: { force: boolean; yes: boolean; "dry-run": boolean },
): (file: ScaffoldFile, text: string) => Promise<boolean> {
  return async ({ path, text, isShared }, there) => {
    if (isShared) return false;
    if (force) return true;
    if (yes || dryRun || !context.canAsk()) return false;
    const { confirm } = await import("../../prompt.ts");
    await context.system.stderr.write(lines(`${change(path, there, text)}\n`));
    return confirm(`${oneLine(path)} exists and differs. Replace it?`);
  };
}

/** The change from the first to the last line that differ. */
function change(path: string, before: string, after: string): string {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let begin = 0;
  while (begin < old.length && begin < fresh.length && old[begin] === fresh[begin]) begin++;
  let end = 0;
  while (
    end < old.length - begin &&
    end < fresh.length - begin &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  )
    end++;
  const changed = [
    ...old.slice(begin, old.length - end).map((line) => `-${line}`),
    ...fresh.slice(begin, fresh.length - end).map((line) => `+${line}`),
  ];
  const more = changed.length > SHOWN_MAX ? [`… and ${changed.length - SHOWN_MAX} more lines`] : [];
  return [`${path}, from line ${begin + 1}:`, ...changed.slice(0, SHOWN_MAX), ...more].join("\n");
}
