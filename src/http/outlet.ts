/** The body of an answer for who does not wait for its reader. */
export interface Outlet {
  stream: ReadableStream<Uint8Array>;
  /** A reader for whom more waits than may is cut off: nothing more is sent, and the connection ends. */
  send(text: string): void;
  /** Resolves when all that waited has been taken, or the reader is gone. */
  drained(): Promise<void>;
  /** Ends the body in good order. */
  end(): void;
  /** Aborted when the reader is gone, was cut off or has got all. */
  gone: AbortSignal;
}

/** @param waitingMax bytes that may wait for the reader */
export function createOutlet(waitingMax: number): Outlet {
  const gone = new AbortController();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let wake = () => {};
  const stop = () => {
    gone.abort();
    wake();
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: () => wake(),
      cancel: stop,
    },
    // asks for more only when nothing waits
    new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
  );
  const waiting = () => 1 - (controller?.desiredSize ?? 1);
  return {
    stream,
    gone: gone.signal,
    send(text) {
      if (gone.signal.aborted) return;
      controller?.enqueue(Buffer.from(text));
      if (waiting() <= waitingMax) return;
      controller?.error(new Error("the reader is too slow"));
      stop();
    },
    async drained() {
      while (waiting() > 0 && !gone.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    },
    end() {
      if (gone.signal.aborted) return;
      controller?.close();
      stop();
    },
  };
}
