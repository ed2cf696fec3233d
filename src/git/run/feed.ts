import { collectAfter } from "./garbage.ts";
import type { RunRequest, Stop } from "./run.ts";
import { writeAll } from "./write-all.ts";

/** @returns the error of the source, if any; that git stops reading is not an error */
export async function feed(
  stdin: Bun.FileSink,
  source: NonNullable<RunRequest["feed"]>,
  stop: (why: Stop) => void,
): Promise<{ error: unknown } | null> {
  try {
    await source(async (piece) => {
      const isTaken = await writeAll(stdin, piece);
      if (isTaken) release(piece);
      collectAfter(piece.byteLength);
      return isTaken;
    });
    return null;
  } catch (error) {
    stop("caller");
    return { error };
  } finally {
    await Promise.resolve(stdin.end()).catch(() => {});
  }
}

/** Frees memory at once: 20 bodies in pieces of 2 MB would hold 200 MB until the next garbage collection. */
function release({ buffer, byteLength }: Uint8Array): void {
  const isWhole = buffer.byteLength === byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
