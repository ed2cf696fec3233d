import { Database } from "bun:sqlite";
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { AGENT_RECORD_MAX_BYTES } from "../../src/contract/limits.ts";

/** What is read into memory; text is compressed to a fraction of it. */
const PLAIN_MAX_BYTES = 8 * AGENT_RECORD_MAX_BYTES;
const FILES_MAX = 5_000;
/** Deeper than any agent records its conversations. */
const DEPTH_MAX = 16;

/** The record is too large to be kept. */
export class RecordTooLargeError extends Error {
  override readonly name = "RecordTooLargeError";
}

/**
 * Packs files and folders of a home as a tar, compressed by gzip. Links are left out. Of a database of SQLite, which the
 * agent may have open, the archive has a consistent copy.
 * @param paths relative to the home; those that do not exist are left out
 * @throws RecordTooLargeError
 */
export async function packRecord(home: string, paths: readonly string[]): Promise<Uint8Array> {
  const files: Record<string, Uint8Array> = {};
  let bytes = 0;
  const add = (path: string, depth: number): void => {
    const file = join(home, path);
    const entry = lstatSync(file, { throwIfNoEntry: false });
    if (entry?.isDirectory() && depth < DEPTH_MAX)
      for (const name of readdirSync(file).sort()) add(join(path, name), depth + 1);
    if (!entry?.isFile()) return;
    // a file that is too large need not be read
    if (bytes + entry.size > PLAIN_MAX_BYTES) throw new RecordTooLargeError();
    const content = extname(file) === ".db" ? copyOfDatabase(file) : readFileSync(file);
    bytes += content.length;
    files[path] = content;
    if (bytes > PLAIN_MAX_BYTES || Object.keys(files).length > FILES_MAX) throw new RecordTooLargeError();
  };
  for (const path of paths) add(path, 0);
  const packed = await new Bun.Archive(files, { compress: "gzip" }).bytes();
  if (packed.length > AGENT_RECORD_MAX_BYTES) throw new RecordTooLargeError();
  return packed;
}

/**
 * Unpacks a record into a home that has none. If that fails, the home is as before.
 * @param paths as it was packed
 * @throws if the archive is damaged, or the disk is full
 */
export async function unpackRecord(
  home: string,
  paths: readonly string[],
  packed: Uint8Array,
): Promise<void> {
  const present = paths.filter((path) => existsSync(join(home, path)));
  if (present.length > 0) throw new Error(`${present[0]} exists`);
  try {
    await new Bun.Archive(packed).extract(home);
  } catch (error) {
    for (const path of paths) rmSync(join(home, path), { recursive: true, force: true });
    throw error;
  }
}

function copyOfDatabase(file: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "svc-record-"));
  try {
    using database = new Database(file, { readwrite: true, create: false });
    const copy = join(folder, "copy.db");
    database.run("VACUUM INTO ?", [copy]);
    return readFileSync(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
