/** A program that has ended, and so many looks at its pipe without a byte: it is empty, and somebody else holds it open. */
const QUIET_CHECKS = 10;
const CHECK_MS = 50;

/**
 * Hands on what a program prints, in pieces. Not until its pipe is closed, which what the program has left behind may
 * hold open for ever, but until it has ended and all that it printed is read; and no longer than `signal` lasts.
 */
export async function forEachChunk(
  stream: ReadableStream<Uint8Array>,
  { exited, signal }: { exited: Promise<unknown>; signal: AbortSignal },
  onPiece: (piece: Uint8Array) => void,
): Promise<void> {
  const reader = stream.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  let isOver = false;
  let quiet = 0;
  let timer: ReturnType<typeof setInterval> | null = null;
  void exited.then(() => {
    if (!isOver) timer = setInterval(() => ++quiet === QUIET_CHECKS && leave(), CHECK_MS);
  });
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      quiet = 0;
      onPiece(piece.value);
    }
  } finally {
    isOver = true;
    if (timer) clearInterval(timer);
    signal.removeEventListener("abort", leave);
  }
}
