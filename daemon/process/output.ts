/** Checks without a byte after the program has ended: the pipe is empty, though another process keeps it open. */
const QUIET_CHECKS = 10;
const CHECK_MS = 50;

/**
 * Calls `onChunk` with the output of a program until the program has ended and all its output is read, or the signal
 * aborts. It does not wait for the pipe to close: processes that the program left behind may keep it open.
 */
export async function forEachChunk(
  stream: ReadableStream<Uint8Array>,
  { exited, signal }: { exited: Promise<unknown>; signal: AbortSignal },
  onChunk: (chunk: Uint8Array) => void,
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
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      quiet = 0;
      onChunk(chunk.value);
    }
  } finally {
    isOver = true;
    if (timer) clearInterval(timer);
    signal.removeEventListener("abort", leave);
  }
}
