import { sleep } from "../src/conversation/reconnect.ts";
import { CliError, ReaderGone, systemCode } from "./failure.ts";

/** A stream that a command writes to. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in characters; 80 where nobody knows. */
  readonly columns: number;
  /** The descriptor that a program is given which svc starts and which writes to it by itself. */
  readonly fd: number;
  /** @throws ReaderGone once the reader has gone. */
  write(chunk: string | Uint8Array): Promise<void>;
}

/** Everything of the outside that a command may touch, so that tests can stand in for a terminal. */
export interface System {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** How this very program is started again: the binary, or the runtime with the source. */
  readonly self: readonly string[];
  readonly stdin: {
    readonly isTTY: boolean;
    /** The descriptor that a program is given which reads from it by itself. */
    readonly fd: number;
    /** Everything up to the end, or until `enough` says so of what came so far. */
    bytes(limit: number, enough?: (soFar: Uint8Array) => boolean): Promise<Uint8Array>;
  };
  readonly stdout: Sink;
  readonly stderr: Sink;
  now(): number;
  /** Waits, until `signal` is aborted at most. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** This process. Nothing is opened or asked before it is used: that would be most of the start-up time. */
export function thisSystem(): System {
  return {
    env: process.env,
    get cwd() {
      return workingDirectory();
    },
    get self() {
      return selfCommand();
    },
    stdin: {
      get isTTY() {
        return isTerminal(0);
      },
      fd: 0,
      bytes: readStdin,
    },
    stdout: sink(1, () => Bun.stdout),
    stderr: sink(2, () => Bun.stderr),
    now: Date.now,
    sleep,
    fetch: (url, init) => fetch(url, init),
  };
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new CliError("file", "The current directory does not exist any more.", {
      hint: "Change to another one.",
    });
  }
}

function selfCommand(): string[] {
  const isBinary = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/.test(Bun.main);
  return isBinary ? [process.execPath] : [process.execPath, Bun.main];
}

function sink(fd: 1 | 2, file: () => typeof Bun.stdout): Sink {
  return {
    fd,
    get isTTY() {
      return isTerminal(fd);
    },
    get columns() {
      const stream = fd === 1 ? process.stdout : process.stderr;
      return stream.columns > 0 ? stream.columns : 80;
    },
    async write(chunk) {
      // Bun would empty the file that the output goes to
      if (chunk.length === 0) return;
      try {
        await Bun.write(file(), chunk);
      } catch (error) {
        const code = systemCode(error);
        if (code === "EPIPE") throw new ReaderGone();
        throw new CliError("file", `The output cannot be written (${code ?? "unknown error"}).`);
      }
    },
  };
}

const terminals = new Map<number, boolean>();

/** `process.stdout` costs 9 ms to make; the question alone costs 2. */
function isTerminal(fd: number): boolean {
  const known = terminals.get(fd);
  if (known !== undefined) return known;
  const answer = process.getBuiltinModule("node:tty").isatty(fd);
  terminals.set(fd, answer);
  return answer;
}

/** @throws RangeError past `limit` bytes. */
async function readStdin(
  limit: number,
  enough: (soFar: Uint8Array) => boolean = () => false,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of Bun.stdin.stream()) {
    size += part.byteLength;
    if (size > limit) throw new RangeError("standard input is too large");
    parts.push(part);
    if (enough(Buffer.concat(parts))) break;
  }
  return Buffer.concat(parts);
}
