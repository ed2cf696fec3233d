import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { UUID } from "../../../contract/id.ts";
import { SETUP_KEPT_MAX_BYTES } from "../../../contract/setup.ts";

/** Of one project: people with secrets of their own have archives of their own. */
const ARCHIVES_MAX = 4;
/** Of all projects. */
const TOTAL_MAX_BYTES = 20 * 1024 ** 3;
/** Without a use. */
const UNUSED_MS = 30 * 24 * 60 * 60_000;
/** Longer than an archive takes to be written. */
const STALE_MS = 60 * 60_000;
/** A tar ends with two blocks of zeros. */
const TRAILER_BYTES = 1024;

const NAME = /^[0-9a-f]{64}\.tar$/;
const STAGING = ".new-";

export interface ArchiveLimits {
  archiveBytes: number;
  totalBytes: number;
}

const LIMITS: ArchiveLimits = { archiveBytes: SETUP_KEPT_MAX_BYTES, totalBytes: TOTAL_MAX_BYTES };

/** The folder of the archives of all projects. */
export function keptFolder(dataDir: string): string {
  return join(dataDir, "setups");
}

/** The archive with this key; null: there is none. It counts as used now. */
export async function findKept(folder: string, projectId: string, key: string): Promise<string | null> {
  const path = pathOf(folder, projectId, key);
  const now = new Date();
  return await utimes(path, now, now).then(
    () => path,
    () => null,
  );
}

/**
 * Keeps an archive, and removes those that were not used for longest if there are too many.
 * @throws when it is too large or incomplete, and what the source throws; then nothing is kept
 */
export async function keepArchive(
  folder: string,
  projectId: string,
  key: string,
  source: AsyncIterable<Uint8Array>,
  limits = LIMITS,
): Promise<void> {
  const path = pathOf(folder, projectId, key);
  await mkdir(join(folder, projectId), { recursive: true, mode: 0o700 });
  const staging = join(folder, projectId, `${STAGING}${randomUUID()}`);
  try {
    await pipeline(whole(source, limits.archiveBytes), createWriteStream(staging, { mode: 0o600 }));
    await rename(staging, path);
  } finally {
    await rm(staging, { force: true });
  }
  await prune(folder, limits.totalBytes);
}

/** The key is of svc itself, the id of the project a UUID. */
function pathOf(folder: string, projectId: string, key: string): string {
  const name = `${key}.tar`;
  if (!UUID.test(projectId) || !NAME.test(name)) throw new Error("an archive has an invalid name");
  return join(folder, projectId, name);
}

/** @throws when it is too large, or does not end as a tar does */
async function* whole(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let end = Buffer.alloc(0);
  for await (const part of source) {
    bytes += part.length;
    if (bytes > maxBytes) throw new Error(`the archive has more than ${maxBytes} bytes`);
    end = Buffer.concat([end, part.subarray(-TRAILER_BYTES)]).subarray(-TRAILER_BYTES);
    yield part;
  }
  if (end.length < TRAILER_BYTES || end.some((byte) => byte !== 0))
    throw new Error("the archive is incomplete");
}

interface Archive {
  path: string;
  project: string;
  bytes: number;
  usedAt: number;
}

async function prune(folder: string, totalMax: number): Promise<void> {
  const all = (await listArchives(folder)).toSorted((a, b) => b.usedAt - a.usedAt);
  const ofProject = new Map<string, number>();
  let total = 0;
  for (const { path, project, bytes, usedAt } of all) {
    const count = (ofProject.get(project) ?? 0) + 1;
    if (count <= ARCHIVES_MAX && total + bytes <= totalMax && Date.now() - usedAt <= UNUSED_MS) {
      ofProject.set(project, count);
      total += bytes;
    } else await rm(path, { force: true });
  }
}

/** Removes what an interrupted server has left. */
async function listArchives(folder: string): Promise<Archive[]> {
  const archives: Archive[] = [];
  for (const project of (await readdir(folder)).filter((name) => UUID.test(name))) {
    for (const name of await readdir(join(folder, project))) {
      const path = join(folder, project, name);
      const found = await stat(path).catch(() => null);
      if (!found) continue;
      const usedAt = found.mtimeMs;
      if (NAME.test(name)) archives.push({ path, project, bytes: found.size, usedAt });
      else if (name.startsWith(STAGING) && Date.now() - usedAt > STALE_MS) await rm(path, { force: true });
    }
  }
  return archives;
}
