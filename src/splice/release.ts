/**
 * Gives the memory of a socket event's bytes back at once: each event brings a buffer of its own, and gigabytes that
 * pass would wait for the garbage collector. For whoever has kept nothing of them.
 */
export function release(bytes: Uint8Array): void {
  if (bytes.byteLength < LARGE_BYTES) return;
  const { buffer } = bytes;
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === buffer.byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** What is smaller costs the collector less than it costs to give it back. */
const LARGE_BYTES = 32 * 1024;
