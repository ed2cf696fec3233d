/** A response body whose writer never waits for the reader. */
export interface PushStream {
  body: ReadableStream<Uint8Array>;
  /** Sends text. A reader whose backlog exceeds the limit is cut off, and the connection ends. */
  send(text: string): void;
  /** Resolves when the backlog is empty, or the reader is gone. */
  drained(): Promise<void>;
  /** Ends the body normally. */
  end(): void;
  /** Aborted when the reader is gone or was cut off, and after `end`. */
  gone: AbortSignal;
}

/** @param backlogMax limit of bytes that the reader has not received */
export function createPushStream(backlogMax: number): PushStream {
  const gone = new AbortController();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let wake = () => {};
  const stop = () => {
    gone.abort();
    wake();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: () => wake(),
      cancel: stop,
    },
    // pulls only when the queue is empty
    new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
  );
  const backlog = () => 1 - (controller?.desiredSize ?? 1);
  return {
    body,
    gone: gone.signal,
    send(text) {
      if (gone.signal.aborted) return;
      controller?.enqueue(Buffer.from(text));
      if (backlog() <= backlogMax) return;
      controller?.error(new Error("the reader is too slow"));
      stop();
    },
    async drained() {
      while (backlog() > 0 && !gone.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    },
    end() {
      if (gone.signal.aborted) return;
      controller?.close();
      stop();
    },
  };
}
