import type { ExecClient } from "../../src/conversation/exec.ts";

/** The terminal of svc as the terminal of a command in a sandbox. */
export interface RawTerminal {
  readonly size: { cols: number; rows: number };
  /** What the user types, without the keys that are for svc. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Sends the changes of its size, and ends the command when the user leaves by `~.` or the terminal is closed. */
  follow(client: ExecClient): void;
  /** Restores the terminal's previous mode. */
  close(): void;
}

/** The size if the terminal does not report one. */
const SIZE = { cols: 80, rows: 24 };

export function openRawTerminal(): RawTerminal {
  const { stdin, stdout } = process;
  const undo: (() => void)[] = [];
  let client: ExecClient | null = null;
  const leave = () => client?.end();
  const typed = new Escape();
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      const onData = (bytes: Uint8Array) => {
        const { rest, leaves } = typed.read(bytes);
        if (rest.length > 0) controller.enqueue(rest);
        if (leaves) leave();
      };
      stdin.on("data", onData);
      stdin.on("end", leave);
      undo.push(() => {
        stdin.off("data", onData);
        stdin.off("end", leave);
      });
    },
  });
  stdin.setRawMode(true);
  leaveOutputAlone();
  stdin.resume();
  // a signal restores the terminal first
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    const end = () => {
      leave();
      stdin.setRawMode(false);
      process.off(signal, end);
      process.kill(process.pid, signal);
    };
    process.on(signal, end);
    undo.push(() => process.off(signal, end));
  }
  const size = () => {
    const [cols, rows] = stdout.getWindowSize();
    return { cols: cols > 0 ? cols : SIZE.cols, rows: rows > 0 ? rows : SIZE.rows };
  };
  return {
    get size() {
      return size();
    },
    input,
    follow(followed) {
      client = followed;
      const onResize = () => followed.resize(size().cols, size().rows);
      stdout.on("resize", onResize);
      undo.push(() => stdout.off("resize", onResize));
    },
    close() {
      for (const each of undo) each();
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

/** Raw mode still turns a line feed into two characters, which moves the cursor of full-screen programs. */
function leaveOutputAlone(): void {
  const stty = process.platform === "win32" ? null : Bun.which("stty");
  if (stty) Bun.spawnSync([stty, "-opost"], { stdin: "inherit" });
}

const [CR, LF, TILDE, DOT] = [13, 10, 126, 46];

/** Finds `~.` at the start of a line, as ssh(1) does; `~~` is a tilde. */
export class Escape {
  #isLineStart = true;
  #hasTilde = false;

  /** @returns what is for the command, and whether the user leaves */
  read(bytes: Uint8Array): { rest: Uint8Array; leaves: boolean } {
    const rest: number[] = [];
    for (const byte of bytes) {
      if (this.#hasTilde) {
        this.#hasTilde = false;
        if (byte === DOT) return { rest: new Uint8Array(rest), leaves: true };
        if (byte !== TILDE) rest.push(TILDE);
      } else if (this.#isLineStart && byte === TILDE) {
        this.#hasTilde = true;
        continue;
      }
      rest.push(byte);
      this.#isLineStart = byte === CR || byte === LF;
    }
    return { rest: new Uint8Array(rest), leaves: false };
  }
}
