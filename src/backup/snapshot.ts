import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Database, Query } from "../../db/client.ts";
import { type DatabaseShape, fixTextForms, rowsOf, shapeOf, type TableShape } from "../../db/dump.ts";
import type { Git } from "../git/git.ts";
import { BackupError } from "./format.ts";

export type RepositoryCopy = Awaited<ReturnType<Git["backups"]["copy"]>>[number];

/** Rows and repositories of one moment, in a folder on the disk of the data folder. */
export interface Snapshot {
  shape: DatabaseShape;
  repositories: RepositoryCopy[];
  /** The rows of a table, one line each. */
  fileOf(table: TableShape): string;
}

/**
 * Takes a snapshot of the database and of all repositories, while both are in use. No ref changes between the first
 * query of the transaction and the list of refs, so that together they are a state in which the server could have
 * crashed: it settles an interrupted merge after the restore as after a crash. The rows are copied to files first, so
 * that a slow reader of the backup never keeps a transaction open.
 */
export async function takeSnapshot(
  { database, git }: { database: Database; git: Git },
  folder: string,
): Promise<Snapshot> {
  const fileOf = ({ schema, name }: TableShape) => join(folder, "database", `${schema}.${name}.jsonl`);
  await mkdir(join(folder, "database"), { recursive: true, mode: 0o700 });
  return await database.transact("snapshot", async (query) => {
    // the transaction first: one of the embedded database may wait for a change of refs, never the other way round
    const { shape, repositories } = await git.backups.hold(async () => ({
      shape: await requireShape(query),
      repositories: await git.backups.copy(folder),
    }));
    await fixTextForms(query);
    for (const table of shape.tables) {
      await pipeline(rowsOf(query, table), createWriteStream(fileOf(table), { mode: 0o600 }));
    }
    return { shape, repositories, fileOf };
  });
}

async function requireShape(query: Query): Promise<DatabaseShape> {
  const shape = await shapeOf(query);
  if (shape === null) throw new BackupError("The database is empty. Start the server once before a backup.");
  return shape;
}
