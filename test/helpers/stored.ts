import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Api } from "./api.ts";
import { databaseFolder } from "./postgres.ts";

/** All that a server has written to the disk, as one text of bytes (latin1): its data folder's files, and its database's. */
export async function stored({ dataDir, databaseUrl }: Api): Promise<string> {
  const folders = [dataDir, ...(databaseUrl === null ? [] : [await databaseFolder(databaseUrl)])];
  return folders.flatMap((folder) => filesIn(folder).map(readOrGone)).join("\n");
}

/** The plain files below a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((file) =>
    file.isFile() ? [join(file.parentPath, file.name)] : [],
  );
}

/** A file's bytes as text (latin1); empty if it is missing: a running server removes files. */
export function readOrGone(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
