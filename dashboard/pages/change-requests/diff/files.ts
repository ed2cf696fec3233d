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
  /** The media type, if it is an image that a browser shows. */
  image: string | null;
  /** What is not shown before each hunk, and after the last. */
  gaps: readonly Gap[];
  /** Identifies its content: changes with the file. */
  version: string;
}

/** The images that are shown, by the ends of their names. */
const IMAGES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  svg: "image/svg+xml",
};

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
    image: imageType(file.path),
    folded: file.binary ? "binary" : GENERATED.test(file.path) ? "generated" : isLarge ? "large" : null,
    version: `${file.newMode ?? ""} ${file.newId ?? ""} ${file.status} ${file.previousPath}`,
  };
}

/** The media type by the end of a name, if it is an image that a browser shows; else null. */
export function imageType(path: string): string | null {
  const end = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(IMAGES, end) ? (IMAGES[end] ?? null) : null;
}
