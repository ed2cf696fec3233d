import { collectAfter } from "./garbage.ts";
import type { Stop } from "./run.ts";

/** At most this much of standard error is kept. */
const STDERR_MAX_BYTES = 10 * 1024;
export const NOTHING = new Uint8Array();

export type Countdown = ReturnType<typeof countDown>;

/** A timer that can be paused. */
export function countDown(milliseconds: number, onEnd: () => void) {
  let left = milliseconds;
  let since = performance.now();
  let timer = setTimeout(onEnd, left);
  return {
    pause() {
      clearTimeout(timer);
      left -= performance.now() - since;
    },
    resume() {
      since = performance.now();
      timer = setTimeout(onEnd, Math.max(left, 0));
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

export async function pump(
  stream: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => boolean | Promise<boolean>,
  clock: Countdown,
  stop: (why: Stop) => void,
): Promise<Uint8Array> {
  for await (const chunk of stream) {
    collectAfter(chunk.byteLength);
    const answer = take(chunk);
    let more = answer;
    if (typeof answer !== "boolean") {
      clock.pause();
      more = await answer;
      clock.resume();
    }
    if (!more) {
      stop("caller");
      break;
    }
  }
  return NOTHING;
}

export async function collect(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  onTooMuch: () => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      onTooMuch();
      break;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** Reads all, so that git never blocks on a full pipe, and keeps the beginning. */
export async function collectHead(
  stream: ReadableStream<Uint8Array>,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    onChunk?.(chunk);
    if (bytes < STDERR_MAX_BYTES) chunks.push(chunk.subarray(0, STDERR_MAX_BYTES - bytes));
    bytes += chunk.length;
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
