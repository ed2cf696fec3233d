import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RemoteRepository } from "../git.ts";
import { repositoryName } from "../remote/remote-url.ts";
import type { Engine } from "../run/engine.ts";
import { removeLeftovers } from "./clean-up.ts";
import { describeMirror, exists, type Mirror, NO_BRANCH, restoreHead } from "./mirror.ts";

/**
 * Opens the mirror of a repository: removes leftovers of a crash and rewrites the configuration. A mirror of another URL
 * is deleted: no repository may expose another's objects.
 * @returns null when it does not exist yet
 */
export async function openMirror(engine: Engine, repo: RemoteRepository): Promise<Mirror | null> {
  const directory = mirrorDirectory(engine, repo.id);
  await finishReplacement(directory);
  const origin = await readFile(join(directory, ORIGIN_FILE), "utf8").catch(() => null);
  if (origin !== originOf(repo)) {
    // earlier versions recorded the URL without normalizing it
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
  const mirror = describeMirror(engine, repo.id, directory, format, false);
  await restoreHead(mirror);
  return mirror;
}

/** Creates an empty mirror, which appears under its name atomically. */
export async function createMirror(
  engine: Engine,
  repo: RemoteRepository,
  format: "sha1" | "sha256",
): Promise<Mirror> {
  const fresh = await prepareMirror(engine, repo, format);
  const directory = mirrorDirectory(engine, repo.id);
  await rm(directory, { recursive: true, force: true });
  await rename(fresh.directory, directory);
  return describeMirror(engine, repo.id, directory, format, false);
}

/** Creates an empty mirror for `replaceMirror`. */
export async function prepareMirror(
  engine: Engine,
  repo: RemoteRepository,
  format: "sha1" | "sha256",
): Promise<Mirror> {
  const directory = await prepare(engine, NO_BRANCH, format);
  await writeFile(join(directory, ORIGIN_FILE), originOf(repo), { flush: true });
  return describeMirror(engine, repo.id, directory, format, false);
}

/**
 * Replaces a mirror with a prepared one. After a crash at any step, the next start finds one of the two.
 * @param copyRest copies what was written to the old mirror before it was moved aside
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
  const placed = describeMirror(engine, fresh.id, directory, fresh.format, false);
  try {
    await copyRest(describeMirror(engine, fresh.id, aside, fresh.format, false), placed);
  } finally {
    await remove(engine, aside);
  }
}

/** Completes a replacement after a crash: if both exist, the new one is complete. */
async function finishReplacement(directory: string): Promise<void> {
  const aside = asideOf(directory);
  if (!(await exists(aside))) return;
  if (await exists(directory)) await rm(aside, { recursive: true, force: true });
  else await rename(aside, directory);
}

/** Creates an empty repository that svc hosts, with `branch` as HEAD. An existing one is not changed. */
export async function createHosted(engine: Engine, id: string, branch: string): Promise<void> {
  const directory = hostedDirectory(engine, id);
  if (await exists(directory)) return;
  const fresh = await prepare(engine, `refs/heads/${branch}`, "sha1");
  await rename(fresh, directory);
  await syncDirectory(engine.directories.repositories);
}

/** Opens a repository that svc hosts and removes leftovers of a crash. Null when this server does not have it. */
export async function openHosted(engine: Engine, id: string): Promise<Mirror | null> {
  const directory = hostedDirectory(engine, id);
  if (!(await exists(join(directory, "HEAD")))) return null;
  await removeLeftovers(directory);
  return describeMirror(engine, id, directory, "sha1", true);
}

/** Syncs a directory: a new name in it is durable only afterwards. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates an empty bare repository in the temporary directory. */
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

/** Moves the directory away first, so that a half-deleted repository is never found. */
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

/** Identifies the repository of a mirror. */
export const ORIGIN_FILE = "svc-origin";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function mirrorDirectory(engine: Engine, id: string): string {
  return join(engine.directories.mirrors, folderName(id));
}

/** The old mirror while it is replaced. */
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

/** The same for all spellings of the URL, so that a different spelling does not delete refs that only the mirror has. */
function originOf(repo: RemoteRepository): string {
  return digestOf(repositoryName(repo.url));
}

/** A digest, so that the file contains no secrets. */
function digestOf(url: string): string {
  return `${new Bun.CryptoHasher("sha256").update(url).digest("hex")}\n`;
}

export function configOf(format: "sha1" | "sha256"): string {
  const lines = [
    "[core]",
    `\trepositoryformatversion = ${format === "sha256" ? 1 : 0}`,
    "\tbare = true",
    "\tlogAllRefUpdates = false",
    ...(format === "sha256" ? ["[extensions]", "\tobjectFormat = sha256"] : []),
  ];
  return `${lines.join("\n")}\n`;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
