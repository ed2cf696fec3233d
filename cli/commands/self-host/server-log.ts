import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import type { Stack } from "./stack.ts";

/** The size at which a log is renamed to `server.log.1`, in place of the one before it. */
const LOG_MAX_BYTES = 10 * 1024 * 1024;
/** Bytes that are read from the end of the log: enough for the longest request of lines. */
const TAIL_MAX_BYTES = 4 * 1024 * 1024;

/** How the supervisor's own lines begin. */
export const SUPERVISOR = "svc self-host: ";
/** The supervisor's line before each start of svc-api. */
export const STARTS = "svc-api starts";

/** A log file of bounded size (0600). */
export function openLog({ log }: Pick<Stack, "log">, maxBytes = LOG_MAX_BYTES): (chunk: Uint8Array) => void {
  let fd = openSync(log, "a", 0o600);
  let size = fstatSync(fd).size;
  return (chunk) => {
    if (size > 0 && size + chunk.byteLength > maxBytes) {
      closeSync(fd);
      renameSync(log, `${log}.1`);
      fd = openSync(log, "a", 0o600);
      size = 0;
    }
    size += writeSync(fd, chunk);
  };
}

/** The last lines of the log, also of the one before it. */
export function lastLines({ log }: Pick<Stack, "log">, count: number): string[] {
  const [now, before] = [endOf(log), endOf(`${log}.1`)];
  return `${before}${now}`.split("\n").slice(0, -1).slice(-count);
}

/** The last lines since svc-api was started last. */
export function linesSinceStart(stack: Pick<Stack, "log">, count: number): string[] {
  const lines = lastLines(stack, count);
  return lines.slice(lines.lastIndexOf(SUPERVISOR + STARTS) + 1);
}

/** Text that was appended after `from`; from the start of the file again once it was renamed. */
export function readFrom(
  path: string,
  from: { inode: number; offset: number },
): {
  text: string;
  next: { inode: number; offset: number };
} {
  if (!existsSync(path)) return { text: "", next: from };
  const fd = openSync(path, "r");
  try {
    const { ino: inode, size } = fstatSync(fd);
    const start = inode === from.inode && size >= from.offset ? from.offset : 0;
    const bytes = Buffer.alloc(Math.min(size - start, TAIL_MAX_BYTES));
    const read = readSync(fd, bytes, 0, bytes.byteLength, start);
    return { text: bytes.toString("utf8", 0, read), next: { inode, offset: start + read } };
  } finally {
    closeSync(fd);
  }
}

function endOf(path: string): string {
  if (!existsSync(path)) return "";
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_MAX_BYTES));
    readSync(fd, bytes, 0, bytes.byteLength, size - bytes.byteLength);
    return bytes.toString("utf8");
  } finally {
    closeSync(fd);
  }
}
