import { sleep } from "../src/conversation/reconnect.ts";
import { CliError, OutputClosed, systemCode } from "./failure.ts";

/** An output stream. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in characters; 80 if unknown. */
  readonly columns: number;
  /** The file descriptor, for child processes. */
  readonly fd: number;
  /** @throws OutputClosed once the reader has closed it. */
  write(chunk: string | Uint8Array): Promise<void>;
}

/** The environment of a command, which tests replace. */
export interface System {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The command that starts this program: the binary, or the runtime with the source. */
  readonly self: readonly string[];
  readonly stdin: {
    readonly isTTY: boolean;
    /** The file descriptor, for child processes. */
    readonly fd: number;
    /** Reads to the end, or until `enough` returns true for the bytes so far. */
    bytes(limit: number, enough?: (soFar: Uint8Array) => boolean): Promise<Uint8Array>;
    /** Its bytes as they arrive. */
    stream(): AsyncIterable<Uint8Array>;
  };
  readonly stdout: Sink;
  readonly stderr: Sink;
  now(): number;
  /** Waits. `signal` ends it early. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** The current process. Everything is opened lazily: otherwise it would take most of the start-up time. */
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
      stream: () => Bun.stdin.stream(),
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
    throw new CliError("file", "The current directory no longer exists.", {
      hint: "Change to another directory.",
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
      // an empty Bun.write truncates the output file
      if (chunk.length === 0) return;
      try {
        await Bun.write(file(), chunk);
      } catch (error) {
        const code = systemCode(error);
        if (code === "EPIPE") throw new OutputClosed();
        throw new CliError("file", `The output cannot be written (${code ?? "unknown error"}).`);
      }
    },
  };
}

const terminals = new Map<number, boolean>();

/** Creating `process.stdout` takes 9 ms; isatty alone takes 2. */
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
