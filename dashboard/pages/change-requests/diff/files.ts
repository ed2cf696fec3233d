import { type Gap, gapsOf } from "./context.ts";
import { countHidden, type HiddenCount } from "./hidden.ts";
import type { PatchFile } from "./patch.ts";

/** A file of the diff as the page shows it. */
export interface DiffFile extends PatchFile {
  /** Index among all files. */
  index: number;
  lines: number;
  hidden: HiddenCount;
  /** Why it is collapsed by default; null if it is not. */
  folded: "large" | "generated" | "binary" | null;
  /** What is not shown before each hunk, and after the last. */
  gaps: readonly Gap[];
  /** Identifies its content: changes with the file. */
  version: string;
}

/** Files with more changed lines are collapsed. */
const LARGE_LINES = 1_500;
/** Files with more characters are collapsed: a minified file is one line. */
const LARGE_CHARACTERS = 200_000;
/** Names of generated files. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|Cargo\.lock|Gemfile\.lock|composer\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|mix\.lock|pubspec\.lock|packages\.lock\.json|gradle\.lockfile)$|\.(?:min\.(?:js|css)|snap|map)$/;

export function describe(file: PatchFile, index: number): DiffFile {
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const characters = lines.reduce((sum, line) => sum + line.length, 0);
  const isLarge = file.additions + file.deletions > LARGE_LINES || characters > LARGE_CHARACTERS;
  return {
    ...file,
    index,
    lines: lines.length,
    hidden: countHidden(lines),
    gaps: gapsOf(file),
    folded: file.binary ? "binary" : GENERATED.test(file.path) ? "generated" : isLarge ? "large" : null,
    version: `${file.newMode ?? ""} ${file.newId ?? ""} ${file.status} ${file.previousPath}`,
  };
}
