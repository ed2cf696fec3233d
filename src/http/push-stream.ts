/** A response body whose writer never waits for the reader. */
export interface PushStream {
  body: ReadableStream<Uint8Array>;
  /** Sends text. A reader whose backlog exceeds the limit is cut off, and the connection ends. */
  send(text: string): void;
  /** Resolves when the backlog is empty or the stream is closed. */
  drained(): Promise<void>;
  /** Ends the body normally. */
  end(): void;
  /** Aborted when the reader disconnects or is cut off, and after `end`. */
  closed: AbortSignal;
}

/** @param backlogMax limit of bytes that the reader has not received */
export function createPushStream(backlogMax: number): PushStream {
  const closed = new AbortController();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let wake = () => {};
  const stop = () => {
    closed.abort();
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
    closed: closed.signal,
    send(text) {
      if (closed.signal.aborted) return;
      controller?.enqueue(Buffer.from(text));
      if (backlog() <= backlogMax) return;
      controller?.error(new Error("the reader is too slow"));
      stop();
    },
    async drained() {
      while (backlog() > 0 && !closed.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    },
    end() {
      if (closed.signal.aborted) return;
      controller?.close();
      stop();
    },
  };
}
