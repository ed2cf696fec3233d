/**
 * The WebSocket of a command in a sandbox. Binary messages are bytes of a stream, after one byte that names it; text
 * messages are JSON. Both sides number the bytes of each stream from 0, and keep what the other has not acknowledged: after a
 * lost connection a new one continues without a gap.
 */

/** The first byte of a binary message. With a terminal, all output is `stdout`. */
export const STREAM = { stdin: 0, stdout: 1, stderr: 2 } as const;

/** A binary message. */
export function messageOf(
  stream: (typeof STREAM)[keyof typeof STREAM],
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(bytes.length + 1);
  message[0] = stream;
  message.set(bytes, 1);
  return message;
}

/** Bytes of a stream that may be on their way, unacknowledged. */
export const WINDOW = 1024 * 1024;
/** An acknowledgement is sent at least after so many bytes. */
export const ACK_EVERY = 128 * 1024;
/** The largest binary message. */
export const CHUNK_MAX = 64 * 1024;

/** The most columns and rows of a terminal. */
export const TERMINAL_MAX = 1000;
export function isSize(number: number | undefined): number is number {
  return number !== undefined && Number.isInteger(number) && number >= 1 && number <= TERMINAL_MAX;
}

/** Signals that a client may send; to a program with a terminal it sends characters instead. */
export const EXEC_SIGNALS = ["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2"] as const;
export type ExecSignal = (typeof EXEC_SIGNALS)[number];

/** Text messages of a client. */
export type ExecRequest =
  /** The bytes of the output that it has received. */
  | { type: "ack"; stdout: number; stderr: number }
  | { type: "resize"; cols: number; rows: number }
  | { type: "signal"; signal: ExecSignal }
  /** Standard input has ended. */
  | { type: "eof" }
  /** The user has left: the command is ended. */
  | { type: "end" };

/** Text messages of the daemon. */
export type ExecEvent =
  /** The first: the bytes of standard input that it has, from which the client continues. */
  | { type: "attached"; stdin: number }
  | { type: "ack"; stdin: number }
  /** Output was dropped, since the connection is slower than a terminal's output: it continues at this byte. */
  | { type: "skipped"; stdout: number }
  /** The last, after all output. Both null: svc ended it. */
  | { type: "exit"; code: number | null; signal: string | null };

/** Codes of a WebSocket's end (RFC 6455, 7.4.2). */
export const EXEC_CLOSE = {
  /** Another connection has taken the command over. */
  replaced: 4001,
  /** The client has broken the rules of this page. */
  invalid: 4002,
} as const;

/** A text message of the daemon; null: of a newer version. */
export function readExecEvent(text: string): ExecEvent | null {
  const value = parse(text);
  const number = (name: string) => numberOf(value, name);
  switch (value["type"]) {
    case "attached":
    case "ack":
      return number("stdin") === null ? null : { type: value["type"], stdin: number("stdin") ?? 0 };
    case "skipped":
      return number("stdout") === null ? null : { type: "skipped", stdout: number("stdout") ?? 0 };
    case "exit": {
      const signal = value["signal"];
      return { type: "exit", code: number("code"), signal: typeof signal === "string" ? signal : null };
    }
    default:
      return null;
  }
}

/** A text message of a client; null: not one. */
export function readExecRequest(text: string): ExecRequest | null {
  const value = parse(text);
  const [stdout, stderr] = [numberOf(value, "stdout"), numberOf(value, "stderr")];
  const [cols, rows] = [numberOf(value, "cols"), numberOf(value, "rows")];
  const signal = EXEC_SIGNALS.find((each) => each === value["signal"]);
  switch (value["type"]) {
    case "ack":
      return stdout === null || stderr === null ? null : { type: "ack", stdout, stderr };
    case "resize":
      return cols === null || rows === null ? null : { type: "resize", cols, rows };
    case "signal":
      return signal === undefined ? null : { type: "signal", signal };
    case "eof":
    case "end":
      return { type: value["type"] };
    default:
      return null;
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // not a message
  }
  return {};
}

/** A count or a size: whole, and not negative. */
function numberOf(value: Record<string, unknown>, name: string): number | null {
  const number = value[name];
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}
