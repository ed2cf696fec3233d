/** How often a log that is no terminal is told how far it is. */
const LOG_EVERY_MS = 30_000;
const CLEAR_LINE = "\r\x1b[K";
const NARROW = 80;

export interface Progress {
  /** What runs now, and how much is done. */
  show(running: readonly string[], done: number, failed: number): void;
  /** Something that stays. */
  say(text: string): void;
  end(): void;
}

/** One line that changes on a terminal; elsewhere a line now and then. */
export function showProgress(
  stream: NodeJS.WriteStream,
  total: number,
  now = () => performance.now(),
): Progress {
  const begun = now();
  let line = "";
  let told = begun;
  return {
    show(running, done, failed) {
      const minutes = `${((now() - begun) / 60_000).toFixed(1)} min`;
      const counts = `${done} of ${total} done, ${failed} failed, ${minutes}`;
      if (stream.isTTY) {
        line = `${counts}: ${running.join(", ")}`.slice(0, (stream.columns ?? NARROW) - 1);
        stream.write(CLEAR_LINE + line);
      } else if (now() - told >= LOG_EVERY_MS) {
        told = now();
        stream.write(`${counts}\n`);
      }
    },
    say(text) {
      stream.write(stream.isTTY ? `${CLEAR_LINE}${text}\n${line}` : `${text}\n`);
    },
    end() {
      if (stream.isTTY) stream.write(CLEAR_LINE);
    },
  };
}
