/** Interval of progress lines if the output is not a terminal. */
const LOG_EVERY_MS = 30_000;
const CLEAR_LINE = "\r\x1b[K";
const NARROW = 80;

export interface Progress {
  /** Updates the running jobs and the number of finished ones. */
  show(running: readonly string[], done: number, failed: number): void;
  /** Prints a permanent line. */
  print(text: string): void;
  end(): void;
}

/** On a terminal one line that is updated; otherwise a new line at an interval. */
export function showProgress(
  stream: NodeJS.WriteStream,
  total: number,
  now = () => performance.now(),
): Progress {
  const begun = now();
  let line = "";
  let printedAt = begun;
  return {
    show(running, done, failed) {
      const minutes = `${((now() - begun) / 60_000).toFixed(1)} min`;
      const counts = `${done} of ${total} done, ${failed} failed, ${minutes}`;
      if (stream.isTTY) {
        line = `${counts}: ${running.join(", ")}`.slice(0, (stream.columns ?? NARROW) - 1);
        stream.write(CLEAR_LINE + line);
      } else if (now() - printedAt >= LOG_EVERY_MS) {
        printedAt = now();
        stream.write(`${counts}\n`);
      }
    },
    print(text) {
      stream.write(stream.isTTY ? `${CLEAR_LINE}${text}\n${line}` : `${text}\n`);
    },
    end() {
      if (stream.isTTY) stream.write(CLEAR_LINE);
    },
  };
}
