import type { Dirent } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Devcontainer, STACKS } from "./detect.ts";
import type { ProjectFolder } from "./stack.ts";

/** Folders of the top that are read, and names in one. */
const FOLDERS_MAX = 200;
const NAMES_MAX = 2_000;
/** More than any of these files needs. */
const TEXT_MAX_BYTES = 256 * 1024;
/** Folders with a language that is not the project's own. */
const SKIPPED =
  /^(?:\..*|node_modules|vendor|third[_-]party|docs?|examples?|samples?|demos?|tests?|testdata|fixtures|e2e|benchmarks?)$/i;

const TEXTS: ReadonlySet<string> = new Set(STACKS.flatMap(({ marks, reads }) => [...marks, ...reads]));

/** Reads the top of a repository and the folders below it. Symbolic links are not followed. */
export async function look(root: string): Promise<ProjectFolder[]> {
  const entries = await entriesOf(root);
  const below = entries
    .filter((entry) => entry.isDirectory() && !SKIPPED.test(entry.name))
    .map(({ name }) => name)
    .toSorted()
    .slice(0, FOLDERS_MAX);
  const folders = [await folderOf(root, "", entries)];
  for (const path of below) folders.push(await folderOf(root, path, await entriesOf(join(root, path))));
  return folders;
}

/** The devcontainer.json of a repository; null without one. */
export async function findDevcontainer(root: string): Promise<Devcontainer | null> {
  for (const path of [".devcontainer/devcontainer.json", ".devcontainer.json"]) {
    const found = await lstat(join(root, path)).catch(() => null);
    if (found?.isFile()) return { path, text: await readText(join(root, path)) };
  }
  return null;
}

/** A folder that cannot be read is empty. */
async function entriesOf(path: string): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.slice(0, NAMES_MAX);
}

async function folderOf(root: string, path: string, entries: readonly Dirent[]): Promise<ProjectFolder> {
  const files = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    files.set(entry.name, TEXTS.has(entry.name) ? await readText(join(root, path, entry.name)) : "");
  }
  return { path, files };
}

async function readText(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TEXT_MAX_BYTES), 0);
    return buffer.toString("utf8", 0, bytesRead).replaceAll("\r\n", "\n");
  } catch {
    return "";
  }
}
