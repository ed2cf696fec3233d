import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { countMemoryKills } from "./find.ts";
import type { Folder } from "./folder.ts";

/** The current file, and the rotated ones; each has at most READS * READ_BYTES bytes. */
const PARTS = ["log", "log.1", "log.2"] as const;
/** dd(1) copies up to this number of reads, each of at most READ_BYTES, and then the file is rotated. */
const READS = 4096;
const READ_BYTES = 1024;

/**
 * A shell function that copies its standard input into the log, and keeps only the end. It runs as long as the sandbox:
 * writers never wait for the server, and cannot fill the disk while no server runs.
 */
export const PUMP = `pump() {
  while :; do
    command -p dd bs=${READ_BYTES} count=${READS} of="$folder/log" 2>/dev/null
    [ -s "$folder/log" ] || break
    command -p mv -f "$folder/log.1" "$folder/log.2" 2>/dev/null
    command -p mv -f "$folder/log" "$folder/log.1"
  done
  # on a full disk, discards output instead of ending the writer
  exec command -p cat >/dev/null
}`;

function killsLine(kills: number): string {
  if (kills === 0) return "";
  const killed = kills === 1 ? "1 process was killed" : `${kills} processes were killed`;
  return `${killed} because the sandbox exceeded its memory limit\n`;
}

/** The last `maxBytes` of a sandbox's log. The last line counts the processes killed for exceeding the memory limit. */
export async function readLog(folder: Folder, maxBytes: number): Promise<Uint8Array> {
  const files: FileHandle[] = [];
  try {
    // newest first: a rotation meanwhile can repeat a file, but not skip one
    for (const name of PARTS) {
      const file = await open(join(folder.path, name), "r").catch(() => null);
      if (file) files.push(file);
    }
    const seen = new Set<number>();
    const parts: Uint8Array[] = [];
    const last = Buffer.from(killsLine(await countMemoryKills(folder)));
    let left = maxBytes - last.length;
    for (const file of files) {
      const { ino, size } = await file.stat();
      if (seen.has(ino) || left <= 0) continue;
      seen.add(ino);
      const part = Buffer.alloc(Math.min(size, left));
      const { bytesRead } = await file.read(part, 0, part.length, size - part.length);
      parts.unshift(part.subarray(0, bytesRead));
      left -= bytesRead;
    }
    return Buffer.concat([...parts, last]);
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}
