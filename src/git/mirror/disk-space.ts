import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDiskFull } from "../../contract/disk-full.ts";

/** A block of most file systems. */
const PROBE = new Uint8Array(4096);

/** Whether the disk of a directory is full: for some commands git does not report the reason of a failure. */
export async function isOutOfSpace(directory: string): Promise<boolean> {
  const probe = join(directory, `.tmp-room-${crypto.randomUUID()}`);
  try {
    await writeFile(probe, PROBE, { flush: true });
    return false;
  } catch (error) {
    return isDiskFull(error);
  } finally {
    await rm(probe, { force: true });
  }
}
