import { existsSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { type Database, type Db, type OpenOptions, openEmbedded, openPostgres } from "../db/client.ts";
import { connectFailure, DatabaseUnreachableError } from "../db/connect-failure.ts";
import { serverFacts } from "../db/schema/index.ts";
import type { Config } from "./config.ts";
import { lockDataFolder, RestoreUnfinishedError, restoreMark } from "./data-folder.ts";
import { createKeys, type Keys, loadMasterKey } from "./keys.ts";

/** The resources of the server and of an operator's command: the data folder, the keys and the database. */
export interface Opened {
  database: Database;
  keys: Keys;
  close(): Promise<void>;
}

/** The database belongs to another master key. */
export class WrongMasterKeyError extends Error {
  override readonly name = "WrongMasterKeyError";
  constructor() {
    super(
      "This database was created with another master key, so stored credentials and tokens cannot be read. Set SVC_MASTER_KEY to the right key, or restore master.key in the data folder from a backup.",
    );
  }
}

/**
 * Locks the data folder, opens the database in it (or at `DATABASE_URL`) and migrates its schema, unless `options` say
 * not to.
 * @throws DataFolderError, DataFolderInUseError, RestoreUnfinishedError, DatabaseUnreachableError, SchemaTooNewError,
 * WrongMasterKeyError.
 */
export async function open(config: Config, options?: OpenOptions): Promise<Opened> {
  const unlock = lockDataFolder(config.dataDir);
  try {
    if (existsSync(restoreMark(config.dataDir))) throw new RestoreUnfinishedError();
    const keys = createKeys(config.masterKey ?? loadMasterKey(config.dataDir));
    const database = await openDatabase(config, keys, options);
    const close = () => database.close().finally(unlock);
    return { database, keys, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openDatabase(
  { databaseUrl, dataDir }: Config,
  keys: Keys,
  options?: OpenOptions,
): Promise<Database> {
  if (databaseUrl === null) return claimed(await openEmbedded(join(dataDir, "postgres"), options), keys);
  try {
    return await claimed(await openPostgres(databaseUrl, options), keys);
  } catch (error) {
    const reason = connectFailure(error);
    throw reason === null ? error : new DatabaseUnreachableError(databaseUrl, reason);
  }
}

/** Closes the database if it is another server's. */
async function claimed(database: Database, keys: Keys): Promise<Database> {
  try {
    await claimDatabase(database.db, keys);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The first server stores the fingerprint of its key; all others must have the same key. */
async function claimDatabase(db: Db, keys: Keys): Promise<void> {
  const name = "master_key_fingerprint";
  await db.insert(serverFacts).values({ name, value: keys.fingerprint }).onConflictDoNothing();
  const [fact] = await db.select().from(serverFacts).where(eq(serverFacts.name, name));
  if (fact?.value !== keys.fingerprint) throw new WrongMasterKeyError();
}
