import { randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Pack, pack } from "tar-stream";
import type { Database } from "../../db/client.ts";
import { UUID } from "../contract/id.ts";
import { VERSION } from "../contract/version.ts";
import type { Git } from "../git/git.ts";
import type { Keys } from "../keys.ts";
import { measureFolder, volumeFolder } from "../sandboxes/local/volumes.ts";
import { streamOf, writeEntry } from "../sandboxes/tar.ts";
import { type BackupHeader, FORMAT, HEADER_PART, SHAPE_PART } from "./format.ts";
import { packVolume } from "./pack-volume.ts";
import { type RepositoryCopy, type Snapshot, takeSnapshot } from "./snapshot.ts";
import { type AddPart, writeArchive } from "./write-archive.ts";

export interface BackupContext {
  database: Database;
  git: Git;
  keys: Keys;
  dataDir: string;
  /** The master key to include; null: the archive has no key. */
  masterKey: Buffer | null;
  /** The limit of volumes: one of more than twice that is left out. */
  volumeMaxBytes: number;
  log: Pick<Logger, "warn">;
}

/** A program may exceed its limit until the next measurement. */
const VOLUME_EXCESS = 2;

/** Files of the data folder that a backup includes, beside the database, the repositories, the sites and the volumes. */
export const FILES = { "server-id": "server-id", known_hosts: join("git", "known_hosts") } as const;

/**
 * Backs up a server, also while it runs: its database, its repositories with all of svc's own refs, the files of built
 * sites, the volumes on its machine, and its master key.
 * @returns the archive, produced as it is read
 * @throws BackupError; SvcError when a repository is damaged
 */
export async function* backUp(context: BackupContext): AsyncGenerator<Uint8Array> {
  // the server empties this folder when it starts
  const folder = join(context.dataDir, "git", "temporary", `backup-${randomUUID()}`);
  try {
    const snapshot = await takeSnapshot(context, folder);
    yield* writeArchive((add) => addAll(context, snapshot, add));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function addAll(
  context: BackupContext,
  { shape, repositories, fileOf }: Snapshot,
  add: AddPart,
): Promise<void> {
  const { git, keys, dataDir, masterKey } = context;
  const header: BackupHeader = {
    format: FORMAT,
    version: VERSION,
    created_at: new Date().toISOString(),
    migration: shape.migration,
    key_fingerprint: keys.fingerprint,
    has_key: masterKey !== null,
  };
  await add(HEADER_PART, [`${JSON.stringify(header, null, 2)}\n`]);
  if (masterKey !== null) await add("files/master.key", [`${masterKey.toString("hex")}\n`]);
  for (const [name, path] of Object.entries(FILES))
    if (existsSync(join(dataDir, path))) await add(`files/${name}`, [await readFile(join(dataDir, path))]);
  await add(SHAPE_PART, [`${JSON.stringify(shape)}\n`]);
  for (const table of shape.tables) {
    await add(`database/${table.schema}.${table.name}.jsonl`, createReadStream(fileOf(table)));
    await rm(fileOf(table));
  }
  for (const repository of repositories) await addRepository(git, repository, add);
  await addSites(join(dataDir, "sites"), add);
  await addVolumes(context, add);
}

async function addRepository(git: Git, copy: RepositoryCopy, add: AddPart): Promise<void> {
  const { kind, id, format, head, origin, refs } = copy;
  const folder = `${kind}/${id}.git`;
  await add(`${folder}/repository.json`, [`${JSON.stringify({ format, head, origin })}\n`]);
  await add(`${folder}/refs`, [refs]);
  await add(`${folder}/pack`, git.backups.pack(copy));
  await rm(copy.directory, { recursive: true, force: true });
}

/** The files of each site, which were built in a sandbox and exist nowhere else. */
async function addSites(folder: string, add: AddPart): Promise<void> {
  for (const id of await readdir(folder).catch(() => [])) {
    if (!/^[0-9a-f-]{36}$/.test(id)) continue;
    await addTar(`sites/${id}.tar`, add, (tar) => packFolder(tar, join(folder, id)));
  }
}

/** The volumes on this machine. Their programs may write meanwhile. */
async function addVolumes({ dataDir, volumeMaxBytes, log }: BackupContext, add: AddPart): Promise<void> {
  for (const id of await readdir(join(dataDir, "volumes")).catch(() => [])) {
    if (!UUID.test(id)) continue;
    const folder = volumeFolder(dataDir, id);
    // a sparse file can be larger than any disk
    const enough = volumeMaxBytes * VOLUME_EXCESS;
    if ((await measureFolder(folder, enough)) > enough) {
      log.warn(
        { volume: id },
        "a volume is much larger than SVC_VOLUME_MAX_BYTES: the backup does not have it",
      );
      continue;
    }
    await addTar(`volumes/${id}.tar`, add, (tar) => packVolume(tar, folder));
  }
}

async function addTar(part: string, add: AddPart, write: (tar: Pack) => Promise<void>): Promise<void> {
  const tar = pack();
  const packed = write(tar).catch((error: unknown) =>
    tar.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  await add(part, streamOf(tar));
  await packed;
}

async function packFolder(tar: Pack, folder: string): Promise<void> {
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const file = await stat(join(folder, name)).catch(() => null);
    // the site of a deployment that ended meanwhile is deleted
    if (!file?.isFile()) continue;
    const content = createReadStream(join(folder, name));
    await writeEntry(tar, { name, size: file.size, mode: 0o600 }, content);
  }
  tar.finalize();
}
