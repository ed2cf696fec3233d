import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Query } from "../../db/client.ts";
import { type DatabaseShape, text } from "../../db/dump.ts";
import { beginLoad, type Loading } from "../../db/load.ts";
import { newestMigration } from "../../db/migrate.ts";
import type { Config } from "../config.ts";
import { isDiskFull } from "../contract/disk-full.ts";
import { SvcError } from "../contract/errors.ts";
import { UUID } from "../contract/id.ts";
import { siteFolder } from "../data-folder.ts";
import type { Git } from "../git/git.ts";
import { createKeys } from "../keys.ts";
import { volumeFolder } from "../sandboxes/local/volumes.ts";
import { unpack } from "../sandboxes/unpack.ts";
import { FILES } from "./back-up.ts";
import {
  BackupError,
  type BackupHeader,
  DamagedError,
  HEADER_PART,
  parseHeader,
  SHAPE_PART,
} from "./format.ts";
import { linesOf } from "./lines.ts";
import { collect } from "./read-archive.ts";
import { repositoryParts } from "./restore-repositories.ts";
import { parseShape } from "./shape.ts";
import { unpackVolume } from "./unpack-volume.ts";

export interface Restored {
  header: BackupHeader;
  repositories: number;
  tables: number;
  /** Tables of the archive that are not svc's. */
  skipped: string[];
}

interface Context {
  git: Git;
  /** A transaction of the empty database. */
  query: Query;
  /** The data folder until everything is there. */
  staging: string;
}

/** The receiver of the parts of one archive, in their order. */
export interface Parts {
  take(part: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Checks that the parts belong together. @throws DamagedError */
  finish(): Promise<Restored>;
}

export function restoreParts(config: Pick<Config, "masterKey">, context: Context): Parts {
  const { git, query, staging } = context;
  const repositories = repositoryParts(git);
  const skipped: string[] = [];
  const loaded = new Set<string>();
  let header: BackupHeader | null = null;
  let database: { shape: DatabaseShape; loading: Loading } | null = null;

  async function takeTable(part: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const table = database?.shape.tables.find(
      ({ schema, name }) => part === `database/${schema}.${name}.jsonl`,
    );
    if (!database || !table || loaded.has(part)) throw new DamagedError(`"${part}" is not one of its tables`);
    loaded.add(part);
    if (database.loading.knows(table)) await database.loading.load(table, linesOf(content));
    else skipped.push(`${table.schema}.${table.name}`);
  }

  async function takeOther(part: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const [, kind = "", name = ""] = /^([a-z]+)\/(.+)$/.exec(part) ?? [];
    if (part === SHAPE_PART) {
      const shape = parseShape(await collect(part, content));
      if (database !== null || shape.migration !== header?.migration)
        throw new DamagedError("its tables do not belong to its first part");
      database = { shape, loading: await beginLoad(query, shape) };
    } else if (kind === "database") await takeTable(part, content);
    else if (kind === "repositories" || kind === "mirrors") await repositories.take(part, content);
    else if (kind === "files") await takeFile(config, staging, header, name, await collect(part, content));
    else if (kind === "sites" && /^[0-9a-f-]{36}\.tar$/.test(name)) {
      await mkdir(dirname(siteFolder(staging, name)), { recursive: true, mode: 0o700 });
      await unpack(content, siteFolder(staging, name.slice(0, -".tar".length)));
    } else if (kind === "volumes" && name.endsWith(".tar") && UUID.test(name.slice(0, -".tar".length)))
      await unpackVolume(content, volumeFolder(staging, name.slice(0, -".tar".length)));
    else throw new DamagedError(`"${part}" is not a part of a backup`);
  }

  return {
    async take(part, content) {
      if (header === null) {
        if (part !== HEADER_PART) throw new DamagedError("its first part is not that of a backup of svc");
        header = parseHeader(await collect(part, content));
        return refuseForeign(config, header);
      }
      await explain(part, takeOther(part, content));
    },
    async finish() {
      if (header === null || database === null) throw new DamagedError("it has no database");
      const { shape, loading } = database;
      const lost = shape.tables.find(({ schema, name }) => !loaded.has(`database/${schema}.${name}.jsonl`));
      if (lost) throw new DamagedError(`the table ${lost.name} is missing`);
      await explain("database", loading.finish());
      await requireFingerprint(query, header);
      await removeStrayVolumes(query, staging);
      return { header, repositories: repositories.finish(), tables: loaded.size - skipped.length, skipped };
    },
  };
}

/** @throws BackupError for an archive of a newer svc, or of another master key */
function refuseForeign({ masterKey }: Pick<Config, "masterKey">, header: BackupHeader): void {
  if (header.migration > newestMigration()) {
    throw new BackupError(
      `The archive was written by svc ${header.version}, whose tables are newer than those of this version. Restore it with svc ${header.version} or newer.`,
    );
  }
  if (masterKey !== null && createKeys(masterKey).fingerprint !== header.key_fingerprint) {
    throw new BackupError(
      `SVC_MASTER_KEY is not the key of this backup (fingerprint ${header.key_fingerprint}). Set it to that key${header.has_key ? ", or unset it to use the one in the archive" : ""}.`,
    );
  }
  if (masterKey === null && !header.has_key) {
    throw new BackupError(
      `The archive has no master key (it was made with --without-key). Set SVC_MASTER_KEY to the key with the fingerprint ${header.key_fingerprint}.`,
    );
  }
}

async function takeFile(
  { masterKey }: Pick<Config, "masterKey">,
  staging: string,
  header: BackupHeader | null,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  if (name === "master.key") {
    const key = Buffer.from(Buffer.from(bytes).toString("latin1").trim(), "hex");
    if (key.length !== 32 || createKeys(key).fingerprint !== header?.key_fingerprint)
      throw new DamagedError("its master key is not the key of its database");
    if (masterKey === null) await writeFile(join(staging, name), bytes, { mode: 0o600, flush: true });
    return;
  }
  const path = Object.entries(FILES).find(([file]) => file === name)?.[1];
  if (path === undefined) throw new DamagedError(`"files/${name}" is not a part of a backup`);
  await writeFile(join(staging, path), bytes, { mode: 0o600, flush: true });
}

/** The server would refuse to start with a database of another key. */
async function requireFingerprint(query: Query, header: BackupHeader): Promise<void> {
  const [fact] = await query("select value from server_facts where name = 'master_key_fingerprint'");
  if (!fact || text(fact, "value") !== header.key_fingerprint)
    throw new DamagedError("its database belongs to another master key");
}

/** Volumes that were created after the moment of the rows: nothing would ever remove them. */
async function removeStrayVolumes(query: Query, staging: string): Promise<void> {
  const folder = join(staging, "volumes");
  const known = new Set(
    (await query("select volume_id::text from volumes")).map((row) => text(row, "volume_id")),
  );
  for (const id of await readdir(folder).catch(() => []))
    if (!known.has(id)) await rm(join(folder, id), { recursive: true });
}

/** Errors of data that svc never writes name the part; others, such as a full disk, stay as they are. */
async function explain(part: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof BackupError || isDiskFull(error)) throw error;
    if (error instanceof SvcError && error.code !== "merge_engine_failed") throw error;
    if (!(error instanceof Error)) throw error;
    const code: unknown = Reflect.get(Object(error.cause ?? error), "code") ?? Reflect.get(error, "code");
    // data exceptions and violated constraints of Postgres
    if (typeof code === "string" && !/^2[23]/.test(code) && code !== "merge_engine_failed") throw error;
    throw new DamagedError(`"${part}" cannot be restored (${error.message})`);
  }
}
