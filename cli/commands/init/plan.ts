import { CliError } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import { look } from "./inspect.ts";
import type { ScaffoldFile } from "./scaffold.ts";
import type { Write } from "./write-all.ts";

/** What becomes of a file. `kept`: one that differs is there and stays. `skipped`: it cannot be written there. */
export type Action = "wrote" | "replaced" | "unchanged" | "kept" | "skipped";

export interface Planned {
  file: ScaffoldFile;
  action: Action;
  why: string | null;
  /** Null where nothing is written. */
  write: Write | null;
}

/**
 * Decides what becomes of each file; nothing is changed yet.
 * @param root a real path
 * @param replace asked for each file that is there and differs
 * @throws CliError `file` where a file of the project's own cannot be written; and what `replace` throws
 */
export async function plan(
  root: string,
  files: readonly ScaffoldFile[],
  replace: (file: ScaffoldFile, text: string) => Promise<boolean>,
): Promise<Planned[]> {
  const looks = await Promise.all(files.map(({ path, text }) => look(root, path, text)));
  for (const [index, found] of looks.entries()) {
    if (found.state !== "blocked" || files[index]?.for.length !== 0) continue;
    throw new CliError("file", `${oneLine(found.why)}, so nothing was changed.`, {
      hint: "Move it out of the way, and run the command again.",
    });
  }
  const planned: Planned[] = [];
  const targets = new Set<string>();
  for (const [index, found] of looks.entries()) {
    const file = files[index];
    if (file === undefined) continue;
    const { text } = file;
    const add = (action: Action, why: string | null = null, write: Write | null = null) =>
      planned.push({ file, action, why, write });
    if (found.state === "blocked") {
      add("skipped", found.why);
      continue;
    }
    const { target } = found;
    // by a link, two paths may be one file
    const isTaken = targets.has(target);
    targets.add(target);
    if (found.state === "same" || isTaken) add("unchanged");
    else if (found.state === "missing") add("wrote", null, { target, text, replaces: false });
    else if (await replace(file, found.text)) add("replaced", null, { target, text, replaces: true });
    else add("kept", "it is there, and differs");
  }
  return planned;
}
