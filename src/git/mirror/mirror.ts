import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RemoteRepository } from "../git.ts";
import { createObjects, type Objects } from "../read/objects.ts";
import { repositoryName } from "../remote/remote-url.ts";
import type { Engine } from "../run/engine.ts";
import { baseEnvironment, type Setting, withSettings } from "../run/environment.ts";
import { removeLeftovers } from "./clean-up.ts";

/**
 * The `.gitattributes` files of one commit, as far as they were asked for. Only the base's attributes count in merges
 * and diffs: head's could hide its content from review. Directories are paths in latin1 (bytes), "" is the root.
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
  /** Svc hosts it: nothing in it can be had again from elsewhere. */
  hosted: boolean;
  directory: string;
  format: "sha1" | "sha256";
  /** The environment of git processes that work in it. */
  environment: Record<string, string>;
  objects: Objects;
  /** Ends when all that changes refs here has ended. */
  written: Promise<void>;
  /** The branch that HEAD was last pointed at by this process. */
  head: string | null;
  /** Commits that are here with all that they reach. */
  complete: Set<string>;
  /** The merge bases of pairs of commits, which never change (compare.ts). */
  bases: Map<string, Promise<string[]>>;
  /** It is being repacked. */
  maintaining: boolean;
  /** A git that wrote here was killed, and may have left behind what `cleanUp` removes. */
  unclean: boolean;
  /** What was found out about a commit's `.gitattributes` (attributes.ts). */
  attributes: Map<string, Attributes>;
}

/** Commits remembered as complete; past it the memory starts anew, which costs one look at each. */
const COMPLETE_MAX = 20_000;

/**
 * Opens the mirror of a repository as an earlier process left it: leftovers of a crash are removed, and its
 * configuration is written again. A mirror of another URL is deleted: no repository may show another's objects.
 * @returns null when there is none yet
 */
export async function openMirror(engine: Engine, repo: RemoteRepository): Promise<Mirror | null> {
  const directory = mirrorDirectory(engine, repo.id);
  await finishReplacement(directory);
  const origin = await readFile(join(directory, ORIGIN_FILE), "utf8").catch(() => null);
  if (origin !== originOf(repo)) {
    // earlier versions recorded the URL as it was spelled
    if (origin !== digestOf(repo.url)) {
      await discardMirror(engine, repo.id);
      return null;
    }
    await writeFile(join(directory, ORIGIN_FILE), originOf(repo), { flush: true });
  }
  await removeLeftovers(directory);
  const config = await readFile(join(directory, "config"), "utf8").catch(() => "");
  const format = config.includes("sha256") ? "sha256" : "sha1";
  await writeFile(join(directory, "config"), configOf(format));
  const mirror = describe(engine, repo.id, directory, format);
  await restoreHead(mirror);
  return mirror;
}

/** Makes an empty mirror. It appears under its name all at once, so that none is ever half made. */
export async function createMirror(
  engine: Engine,
  repo: RemoteRepository,
  format: "sha1" | "sha256",
): Promise<Mirror> {
  const fresh = await prepareMirror(engine, repo, format);
  const directory = mirrorDirectory(engine, repo.id);
  await rm(directory, { recursive: true, force: true });
  await rename(fresh.directory, directory);
  return describe(engine, repo.id, directory, format);
}

/** Makes an empty mirror that is not in its place yet: see `replaceMirror`. */
export async function prepareMirror(
  engine: Engine,
  repo: RemoteRepository,
  format: "sha1" | "sha256",
): Promise<Mirror> {
  const directory = await prepare(engine, NO_BRANCH, format);
  await writeFile(join(directory, ORIGIN_FILE), originOf(repo), { flush: true });
  return describe(engine, repo.id, directory, format);
}

/**
 * Puts a prepared mirror in the place of the one that is there. Cut off anywhere, the next start finds one or the other.
 * @param copyRest copies what was written into the old one until it was moved aside
 */
export async function replaceMirror(
  engine: Engine,
  fresh: Mirror,
  copyRest: (aside: Mirror, placed: Mirror) => Promise<unknown>,
): Promise<void> {
  const directory = mirrorDirectory(engine, fresh.id);
  const aside = asideOf(directory);
  await renameIfThere(directory, aside);
  await rename(fresh.directory, directory);
  if (!(await exists(aside))) return;
  const placed = describe(engine, fresh.id, directory, fresh.format);
  try {
    await copyRest(describe(engine, fresh.id, aside, fresh.format), placed);
  } finally {
    await remove(engine, aside);
  }
}

/** Without HEAD git takes the directory for no repository, whatever it holds. */
export async function restoreHead({ directory }: Mirror): Promise<void> {
  const head = join(directory, "HEAD");
  if ((await exists(directory)) && !(await exists(head))) await writeFile(head, `ref: ${NO_BRANCH}\n`);
}

/** A replacement that was cut off: with both there, the new one is whole. */
async function finishReplacement(directory: string): Promise<void> {
  const aside = asideOf(directory);
  if (!(await exists(aside))) return;
  if (await exists(directory)) await rm(aside, { recursive: true, force: true });
  else await rename(aside, directory);
}

/** Makes an empty repository that svc hosts; HEAD names `branch`. One that is there stays as it is. */
export async function createHosted(engine: Engine, id: string, branch: string): Promise<void> {
  const directory = hostedDirectory(engine, id);
  if (await exists(directory)) return;
  const fresh = await prepare(engine, `refs/heads/${branch}`, "sha1");
  await rename(fresh, directory);
  await syncDirectory(engine.directories.repositories);
}

/** Opens a repository that svc hosts; leftovers of a crash are removed. Null when this server does not have it. */
export async function openHosted(engine: Engine, id: string): Promise<Mirror | null> {
  const directory = hostedDirectory(engine, id);
  if (!(await exists(join(directory, "HEAD")))) return null;
  await removeLeftovers(directory);
  return describe(engine, id, directory, "sha1");
}

/** Points HEAD at a branch, which clients check out after a clone. */
export async function pointHead(mirror: Mirror, branch: string): Promise<void> {
  if (mirror.head === branch) return;
  const fresh = join(mirror.directory, `.tmp-head-${crypto.randomUUID()}`);
  await writeFile(fresh, `ref: refs/heads/${branch}\n`);
  await rename(fresh, join(mirror.directory, "HEAD"));
  mirror.head = branch;
}

/** A name in a directory is on the disk only when the directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** An empty bare repository beside the others, to be moved to its place. */
async function prepare(engine: Engine, head: string, format: "sha1" | "sha256"): Promise<string> {
  const fresh = join(engine.directories.temporary, `mirror-${crypto.randomUUID()}`);
  for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
    await mkdir(join(fresh, part), { recursive: true, mode: 0o700 });
  }
  await writeFile(join(fresh, "HEAD"), `ref: ${head}\n`);
  await writeFile(join(fresh, "config"), configOf(format));
  return fresh;
}

/** Deletes a mirror. */
export async function discardMirror(engine: Engine, id: string): Promise<void> {
  const directory = mirrorDirectory(engine, id);
  await remove(engine, directory);
  await remove(engine, asideOf(directory));
}

/** Deletes a repository that svc hosts. */
export async function discardHosted(engine: Engine, id: string): Promise<void> {
  await remove(engine, hostedDirectory(engine, id));
}

/** It is moved away first, so that nothing finds it half deleted. */
async function remove(engine: Engine, directory: string): Promise<void> {
  const away = join(engine.directories.temporary, `gone-${crypto.randomUUID()}`);
  await renameIfThere(directory, away);
  await rm(away, { recursive: true, force: true });
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Remembers commits as complete. */
export function markComplete(mirror: Mirror, commits: readonly string[]): void {
  if (mirror.complete.size + commits.length > COMPLETE_MAX) mirror.complete.clear();
  for (const commit of commits) mirror.complete.add(commit);
}

/** After objects may have gone: everything is looked at again. */
export function markIncomplete(mirror: Mirror): void {
  mirror.complete.clear();
}

/** Bytes of a mirror's packs, also of those that are still coming in. */
export async function packBytes(mirror: Mirror): Promise<number> {
  const packs = join(mirror.directory, "objects", "pack");
  const sizes = (await readdir(packs).catch(() => [])).map(async (name) => {
    const file = await stat(join(packs, name)).catch(() => null);
    return file?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Names the repository that a mirror was made from. */
const ORIGIN_FILE = "svc-origin";
/** What HEAD names until `pointHead`. */
const NO_BRANCH = "refs/svc/none";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function mirrorDirectory(engine: Engine, id: string): string {
  return join(engine.directories.mirrors, folderName(id));
}

/** Where a mirror is while another takes its place. */
function asideOf(directory: string): string {
  return `${directory}.old`;
}

function hostedDirectory(engine: Engine, id: string): string {
  return join(engine.directories.repositories, folderName(id));
}

function folderName(id: string): string {
  if (!UUID.test(id)) throw new TypeError("a repository's id must be a UUID");
  return `${id.toLowerCase()}.git`;
}

/** The same for every spelling of the URL: refs that only the mirror has survive a change of it. */
function originOf(repo: RemoteRepository): string {
  return digestOf(repositoryName(repo.url));
}

/** A digest, so that the file cannot hold anything secret. */
function digestOf(url: string): string {
  return `${new Bun.CryptoHasher("sha256").update(url).digest("hex")}\n`;
}

function configOf(format: "sha1" | "sha256"): string {
  const lines = [
    "[core]",
    `\trepositoryformatversion = ${format === "sha256" ? 1 : 0}`,
    "\tbare = true",
    "\tlogAllRefUpdates = false",
    ...(format === "sha256" ? ["[extensions]", "\tobjectFormat = sha256"] : []),
  ];
  return `${lines.join("\n")}\n`;
}

function describe(engine: Engine, id: string, directory: string, format: Mirror["format"]): Mirror {
  const hosted = directory === hostedDirectory(engine, id);
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

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** What svc hosts is on the disk before anyone is told that it is taken. */
const DURABLE: readonly Setting[] = [["core.fsync", "committed,loose-object,reference"]];

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
