/**
 * Frees the memory of a socket event's bytes at once: each event has its own buffer, and gigabytes of them would wait for
 * the garbage collector. The bytes must not be used afterwards.
 */
export function release(bytes: Uint8Array): void {
  if (bytes.byteLength < LARGE_BYTES) return;
  const { buffer } = bytes;
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === buffer.byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Smaller buffers cost the garbage collector less than freeing them here does. */
const LARGE_BYTES = 32 * 1024;
