import { readdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createObjects, type Objects } from "../read/objects.ts";
import type { Engine } from "../run/engine.ts";
import { baseEnvironment, type Setting, withSettings } from "../run/environment.ts";

/**
 * The `.gitattributes` files of one commit that have been read so far. Only the base's attributes apply to merges and
 * diffs: head's could hide its content from review. Directories are paths in latin1 (bytes), "" is the root.
 */
export interface Attributes {
  commit: string;
  /** Directory → the file's content; null when there is none. */
  files: Map<string, Uint8Array | null>;
  bytes: number;
  found: number;
  all: boolean;
}

/** A bare repository with its whole history, written by this process only: a copy of a remote, or one that svc hosts. */
export interface Mirror {
  id: string;
  /** svc hosts it: this is the only copy. */
  hosted: boolean;
  directory: string;
  format: "sha1" | "sha256";
  /** The environment of git processes that work in it. */
  environment: Record<string, string>;
  objects: Objects;
  /** Settles when the changes of refs so far have ended. */
  written: Promise<void>;
  /** The branch that this process last set HEAD to. */
  head: string | null;
  /** Commits known to be here with everything reachable from them. */
  complete: Set<string>;
  /** The merge bases of pairs of commits, which never change (compare.ts). */
  bases: Map<string, Promise<string[]>>;
  /** It is being repacked. */
  maintaining: boolean;
  /** A git that wrote here was killed and may have left files for `cleanUp`. */
  unclean: boolean;
  /** The `.gitattributes` of commits (attributes.ts). */
  attributes: Map<string, Attributes>;
}

/** The most commits remembered as complete; past it the set is cleared, and each is checked again. */
const COMPLETE_MAX = 20_000;

/** A repository on the disk; `hosted` as in `Mirror`. */
export function describeMirror(
  engine: Engine,
  id: string,
  directory: string,
  format: Mirror["format"],
  hosted: boolean,
): Mirror {
  const settings = hosted ? DURABLE : [];
  const environment = {
    ...withSettings(baseEnvironment(engine.directories.home), settings),
    GIT_DIR: directory,
  };
  return {
    id,
    hosted,
    written: Promise.resolve(),
    head: null,
    directory,
    format,
    environment,
    objects: createObjects(engine, environment),
    complete: new Set(),
    bases: new Map(),
    maintaining: false,
    unclean: false,
    attributes: new Map(),
  };
}

/** A push to a repository that svc hosts is durable before it is reported. */
const DURABLE: readonly Setting[] = [["core.fsync", "committed,loose-object,reference"]];

/** Remembers commits as complete. */
export function markComplete(mirror: Mirror, commits: readonly string[]): void {
  if (mirror.complete.size + commits.length > COMPLETE_MAX) mirror.complete.clear();
  for (const commit of commits) mirror.complete.add(commit);
}

/** Called when objects may have been deleted: all commits are checked again. */
export function markIncomplete(mirror: Mirror): void {
  mirror.complete.clear();
}

/** Bytes of a mirror's packs, including incomplete ones. */
export async function packBytes(mirror: Mirror): Promise<number> {
  const packs = join(mirror.directory, "objects", "pack");
  const sizes = (await readdir(packs).catch(() => [])).map(async (name) => {
    const file = await stat(join(packs, name)).catch(() => null);
    return file?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Writes a missing HEAD, without which git does not recognize the repository. */
export async function restoreHead({ directory }: Mirror): Promise<void> {
  const head = join(directory, "HEAD");
  if ((await exists(directory)) && !(await exists(head))) await writeFile(head, `ref: ${NO_BRANCH}\n`);
}

/** Sets HEAD to the branch that clients check out after a clone. */
export async function pointHead(mirror: Mirror, branch: string): Promise<void> {
  if (mirror.head === branch) return;
  const fresh = join(mirror.directory, `.tmp-head-${crypto.randomUUID()}`);
  await writeFile(fresh, `ref: refs/heads/${branch}\n`);
  await rename(fresh, join(mirror.directory, "HEAD"));
  mirror.head = branch;
}

/** HEAD until `pointHead`. */
export const NO_BRANCH = "refs/svc/none";

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
