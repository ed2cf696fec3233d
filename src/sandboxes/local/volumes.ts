import { chown, lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { UUID } from "../../contract/id.ts";
import { SandboxError, type Volumes } from "../provider.ts";
import { isRoot, UNPRIVILEGED } from "./bubblewrap.ts";
import { removeTree } from "./folder.ts";

/** What any file or directory counts at least: empty ones are not free, and a measurement ends. */
const ENTRY_BYTES = 4_096;
/** Of `stat`. */
const BLOCK_BYTES = 512;
const SLASH = Buffer.from("/");

/** The folder of a volume on this machine. */
export function volumeFolder(dataDir: string, id: string): string {
  if (!UUID.test(id)) throw new SandboxError("The id of a volume must be a UUID.", { permanent: true });
  return join(dataDir, "volumes", id);
}

/** Creates a volume unless it exists. @returns its folder, which the sandbox's user owns */
export async function createVolume(dataDir: string, id: string, isIsolated: boolean): Promise<string> {
  const folder = volumeFolder(dataDir, id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isIsolated && isRoot()) await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
  return folder;
}

/** Volumes as folders of the data folder. */
export function localVolumes(dataDir: string): Volumes {
  return {
    measure: (id, enough) => measureFolder(volumeFolder(dataDir, id), enough),
    remove: (id) => removeTree(volumeFolder(dataDir, id), `The volume ${id} cannot be removed.`),
  };
}

/**
 * The size of what is in a folder, up to the first sum above `enough`. Links are not followed, and the holes of sparse files
 * count.
 */
export async function measureFolder(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  // names may be any bytes
  const folders = [Buffer.from(folder)];
  for (let next = folders.pop(); next !== undefined && bytes <= enough; next = folders.pop()) {
    // the program may remove any of them meanwhile
    for (const name of await readdir(next, { encoding: "buffer" }).catch(() => [])) {
      const path = Buffer.concat([next, SLASH, name]);
      const found = await lstat(path).catch(() => null);
      bytes += Math.max(found?.size ?? 0, (found?.blocks ?? 0) * BLOCK_BYTES, ENTRY_BYTES);
      if (found?.isDirectory()) folders.push(path);
      if (bytes > enough) break;
    }
  }
  return bytes;
}
