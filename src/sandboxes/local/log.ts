import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { memoryKills } from "./find.ts";
import type { Folder } from "./folder.ts";

/** What is written now, and what was written before; each of them is at most LOG_PART_BYTES long. */
const PARTS = ["log", "log.1", "log.2"] as const;
/** In reads of at most a kilobyte each: what keeps a shell's pump simple. */
const READS = 4096;
const READ_BYTES = 1024;

/**
 * A shell's function that copies its standard input into the log, and keeps only the end of it. It lives with the
 * sandbox: whoever writes never waits for the server, and never fills the disk when that is gone.
 */
export const PUMP = `pump() {
  while :; do
    command -p dd bs=${READ_BYTES} count=${READS} of="$folder/log" 2>/dev/null
    [ -s "$folder/log" ] || break
    command -p mv -f "$folder/log.1" "$folder/log.2" 2>/dev/null
    command -p mv -f "$folder/log" "$folder/log.1"
  done
  # a full disk ends nobody: what cannot be kept is thrown away
  exec command -p cat >/dev/null
}`;

function killsLine(kills: number): string {
  if (kills === 0) return "";
  const killed = kills === 1 ? "1 process was killed" : `${kills} processes were killed`;
  return `${killed} because the sandbox exceeded its memory limit\n`;
}

/** The last `maxBytes` of a sandbox's log, which end with the number of processes killed for exceeding the memory limit. */
export async function readLog(folder: Folder, maxBytes: number): Promise<Uint8Array> {
  const files: FileHandle[] = [];
  try {
    // the newest first: if they are moved on meanwhile, one is met twice, and none is missed
    for (const name of PARTS) {
      const file = await open(join(folder.path, name), "r").catch(() => null);
      if (file) files.push(file);
    }
    const seen = new Set<number>();
    const parts: Uint8Array[] = [];
    const last = Buffer.from(killsLine(await memoryKills(folder)));
    let wanted = maxBytes - last.length;
    for (const file of files) {
      const { ino, size } = await file.stat();
      if (seen.has(ino) || wanted <= 0) continue;
      seen.add(ino);
      const part = Buffer.alloc(Math.min(size, wanted));
      const { bytesRead } = await file.read(part, 0, part.length, size - part.length);
      parts.unshift(part.subarray(0, bytesRead));
      wanted -= bytesRead;
    }
    return Buffer.concat([...parts, last]);
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}
