import { fullGC } from "bun:jsc";

const COLLECT_BYTES = 64 * 1024 * 1024;

let passedBytes = 0;

/**
 * Collects garbage after every 64 MiB that pass through the server, about 30 ms each: otherwise the collector runs so
 * late that 70 concurrent clones and pushes take 80 MB more.
 * @param bytes that were just read or written
 */
export function collectAfter(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < COLLECT_BYTES) return;
  passedBytes = 0;
  fullGC();
}
