import { CliError } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import { inspect } from "./inspect.ts";
import type { ScaffoldFile } from "./scaffold.ts";
import type { Write } from "./write-all.ts";

/** The action for a file. `kept`: an existing file differs and is not changed. `skipped`: it cannot be written. */
export type Action = "wrote" | "replaced" | "unchanged" | "kept" | "skipped";

export interface Planned {
  file: ScaffoldFile;
  action: Action;
  why: string | null;
  /** Null if nothing is written. */
  write: Write | null;
}

/**
 * Decides the action for each file, without any change yet.
 * @param root a real path
 * @param replace called for each existing file that differs
 * @throws CliError `file` if one of the project's own files cannot be written; and as `replace`
 */
export async function plan(
  root: string,
  files: readonly ScaffoldFile[],
  replace: (file: ScaffoldFile, text: string) => Promise<boolean>,
): Promise<Planned[]> {
  const inspected = await Promise.all(files.map(({ path, text }) => inspect(root, path, text)));
  for (const [index, found] of inspected.entries()) {
    if (found.state !== "blocked" || files[index]?.for.length !== 0) continue;
    throw new CliError("file", `${oneLine(found.why)}. Nothing was changed.`, {
      hint: "Move it away, then run the command again.",
    });
  }
  const planned: Planned[] = [];
  const targets = new Set<string>();
  for (const [index, found] of inspected.entries()) {
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
    // through a symbolic link, two paths may be the same file
    const isTaken = targets.has(target);
    targets.add(target);
    if (found.state === "same" || isTaken) add("unchanged");
    else if (found.state === "missing") add("wrote", null, { target, text, replaces: false });
    else if (await replace(file, found.text)) add("replaced", null, { target, text, replaces: true });
    else add("kept", "it exists and differs");
  }
  return planned;
}
