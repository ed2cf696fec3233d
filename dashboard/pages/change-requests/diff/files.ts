import { countHidden, type HiddenCount } from "./hidden.ts";
import type { PatchFile } from "./patch.ts";

/** A file of the diff as the page shows it. */
export interface DiffFile extends PatchFile {
  /** Its place among all. */
  index: number;
  lines: number;
  hidden: HiddenCount;
  /** Why it is not unfolded by itself; null: it is. */
  folded: "large" | "generated" | "binary" | null;
  /** What it is now: another word, once it has changed. */
  version: string;
}

/** Changed lines from which a file is shown only when asked for. */
const LARGE_LINES = 1_500;
/** The same in characters: a minified file is one line. */
const LARGE_CHARACTERS = 200_000;
/** What tools write and people do not read. */
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
    folded: file.binary ? "binary" : GENERATED.test(file.path) ? "generated" : isLarge ? "large" : null,
    version: `${file.newMode ?? ""} ${file.newId ?? ""} ${file.status}`,
  };
}
