import type { ChangeRequest, MergePreview } from "../../../src/contract/change-request.ts";
import type { Paint } from "../../output.ts";
import { count, oneLine, shellWord } from "../../text.ts";

/** Describes the merge preview; with conflicts, how to resolve them. */
export function previewText(cr: ChangeRequest, preview: MergePreview, paint: Paint): string {
  if (preview.merge_base === null) {
    return `${paint.red("cannot be merged")}: ${name(cr.head_ref)} and ${name(cr.base_ref)} have no common history\n`;
  }
  if (preview.is_up_to_date) {
    return `${paint.yellow("up to date")}: ${name(cr.base_ref)} already contains ${name(cr.head_ref)}; nothing to merge\n`;
  }
  if (preview.can_fast_forward) return `${paint.green("clean")}: merges as a fast-forward\n`;
  if (preview.can_merge) return `${paint.green("clean")}: merges without conflicts\n`;
  const { conflicts } = preview;
  const paths = conflicts.map((path) => `  ${paint.red("conflict")}  ${oneLine(path)}\n`).join("");
  const where = conflicts.length === 0 ? "" : ` in ${count(conflicts.length, "file")}`;
  return `${paint.red("conflicts")}${where}\n${paths}\n${recovery(cr)}`;
}

const name = (ref: string): string => oneLine(ref);

/** Spec 4.1, rule 8. Names are quoted, because the lines are meant to be pasted. */
export function recovery(cr: Pick<ChangeRequest, "head_ref" | "base_ref" | "number">): string {
  const word = (ref: string) => oneLine(shellWord(ref));
  return [
    "To resolve them, on the change request's own branch:\n",
    "  git fetch origin\n",
    `  git switch ${word(cr.head_ref)}\n`,
    `  git merge ${word(`origin/${cr.base_ref}`)}\n`,
    "  # edit the files, then: git add <files> && git commit\n",
    "  git push origin HEAD\n",
    `  svc cr show ${cr.number}\n`,
  ].join("");
}
