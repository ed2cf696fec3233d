/**
 * A response body from a producer of bytes, with backpressure. The signal is aborted when the reader disconnects.
 * @param produce calls `onBytes` with each piece, until it returns false
 */
export function streamOf(
  produce: (onBytes: (bytes: Uint8Array) => Promise<boolean>, signal: AbortSignal) => Promise<unknown>,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  let wake = () => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onBytes = async (bytes: Uint8Array) => {
          if (stop.signal.aborted) return false;
          controller.enqueue(bytes);
          if ((controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => (wake = resolve));
          return !stop.signal.aborted;
        };
        produce(onBytes, stop.signal).then(
          () => {
            if (!stop.signal.aborted) controller.close();
          },
          (error: unknown) => {
            if (!stop.signal.aborted) controller.error(error);
          },
        );
      },
      pull: () => wake(),
      cancel() {
        stop.abort();
        wake();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: AHEAD_BYTES }),
  );
}

/** Bytes that are buffered ahead of the reader. */
const AHEAD_BYTES = 256 * 1024;
