import type { Db } from "../../../../db/client.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { listAnnotations } from "./annotations.ts";
import { findRun } from "./read.ts";

/**
 * What a check run says, as a text for an agent: its summary, its text, and its first annotations, one after the other.
 * @param limits annotations, and characters of the whole
 * @returns null when it says nothing. @throws not_found
 */
export async function outputOf(
  db: Db,
  project: ProjectRow,
  id: number,
  { lines, characters }: { lines: number; characters: number },
): Promise<string | null> {
  const run = await findRun(db, project, String(id));
  const annotations = await listAnnotations(db, run, { limit: lines, offset: 0 });
  const noted = annotations.map(({ path, start_line, annotation_level, title, message }) =>
    [`${path}:${start_line}: ${annotation_level}`, title, message].filter((text) => text).join(": "),
  );
  const text = [run.summary, noted.join("\n"), run.text].filter((part) => part).join("\n\n");
  return text === "" ? null : text.slice(0, characters).toWellFormed();
}
