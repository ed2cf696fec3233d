/** A file that is not what its format says. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

/** Runs a parser; a read beyond the end of the file becomes a FormatError. */
export function parseFormat<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError(`damaged ${what}: it ends too early`);
    throw error;
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A 64-bit number of a file's header, which is an offset or a size. */
export function uint64(view: DataView, at: number, isLittleEndian = true): number {
  const value = view.getBigUint64(at, isLittleEndian);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError("beyond the end of the file");
  return Number(value);
}

/** The ASCII text at `at`, up to a zero byte or `end`. */
export function textAt(bytes: Uint8Array, at: number, end: number): string {
  if (at < 0 || at > bytes.length) throw new RangeError("beyond the end of the file");
  const part = bytes.subarray(at, Math.min(end, bytes.length));
  const zero = part.indexOf(0);
  return Buffer.from(zero < 0 ? part : part.subarray(0, zero)).toString("latin1");
}
