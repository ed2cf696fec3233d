import { createWriteStream } from "node:fs";
import { chmod, copyFile, mkdir, symlink } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, type Header } from "tar-stream";
import { CliError } from "../failure.ts";

/** What was copied. */
export interface Copied {
  files: number;
  bytes: number;
  /** Paths that were left out: special files, and links that lead out of the folder. */
  omitted: string[];
}

/** Entries of one copy. */
const ENTRIES_MAX = 1_000_000;
/** Paths in `omitted`. */
const OMITTED_MAX = 100;

/**
 * Extracts a tar of a sandbox, which is not trusted, into a new folder: nothing is written outside of it, through a link or
 * otherwise.
 * @param root the name of what is copied; null: the contents of a folder
 * @throws CliError `file`; an Error if it is not a tar
 */
export async function unpack(
  source: AsyncIterable<Uint8Array>,
  folder: string,
  copied: Copied,
  root: string | null,
): Promise<void> {
  const reader = extract();
  const feeding = pipeline(Readable.from(source), reader);
  feeding.catch(() => {});
  /** Links are made last, so that no file is written through one. */
  const links: { path: string; target: string }[] = [];
  let entries = 0;
  const omit = (name: string) => {
    if (copied.omitted.length < OMITTED_MAX) copied.omitted.push(name);
  };
  for await (const entry of reader) {
    const { header } = entry;
    if (++entries > ENTRIES_MAX)
      throw new CliError("file", `The folder has more than ${ENTRIES_MAX} files. Copy a part of it.`);
    const path = insideOf(header.name);
    if (path === null) omit(header.name);
    else if (header.type === "directory") await mkdir(join(folder, path), { recursive: true });
    else if (header.type === "file" || header.type === "contiguous-file") {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      copied.bytes += header.size ?? 0;
      await pipeline(entry, createWriteStream(target, { flags: "w", mode: modeOf(header) }));
      await chmod(target, modeOf(header));
      copied.files++;
      continue;
    } else if (header.type === "link") {
      const same = insideOf(header.linkname ?? "");
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      if (
        same !== null &&
        (await copyFile(join(folder, same), target).then(
          () => true,
          () => false,
        ))
      )
        copied.files++;
      else omit(header.name);
    } else if (header.type === "symlink" && leadsInside(path, header.linkname ?? "", root))
      links.push({ path, target: header.linkname ?? "" });
    else omit(header.name);
    entry.resume();
  }
  await feeding;
  for (const { path, target } of links) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(target, join(folder, path)).catch(() => omit(path));
  }
}

/** A file is the user's: nobody gets more than its permissions, and no set-user-ID bit. */
function modeOf({ mode }: Header): number {
  return ((mode ?? 0o644) & 0o777) | 0o600;
}

/** The relative path of an entry; null for one outside the folder, and one that is not a path on every system. */
function insideOf(name: string): string | null {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  const isUnsafe = parts.some(
    (part) => part === ".." || (/[\0\\:]/.test(part) && process.platform === "win32"),
  );
  return parts.length === 0 || isUnsafe || name.startsWith("/") || name.includes("\0")
    ? null
    : parts.join("/");
}

/** Whether a link stays in what is copied. */
function leadsInside(path: string, target: string, root: string | null): boolean {
  if (target === "" || target.startsWith("/") || target.includes("\0")) return false;
  const end = posix.normalize(posix.join(posix.dirname(path), target));
  return root === null ? !/^\.\.(?:\/|$)/.test(end) : end === root || end.startsWith(`${root}/`);
}
