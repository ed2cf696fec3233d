import {
  EXEC_CLOSE,
  type ExecEvent,
  isSize,
  messageOf,
  readExecRequest,
  STREAM,
  WINDOW,
} from "../../src/contract/exec-stream.ts";
import { Output } from "./output.ts";
import { type Program, type Sink, untilSilent } from "./program.ts";

/** A client's connection. */
export interface Client {
  send(message: string | Uint8Array): void;
  close(code: number): void;
}

export interface ExecutionLimits {
  /** How long a command without a client runs on. */
  awayMs: number;
  /** How long the end of a command is kept for a client that comes back. */
  keptMs: number;
  /** For the last bytes of processes that the command has left behind. */
  drainMs: number;
}

export interface ExecutionOptions {
  userId: string;
  isTerminal: boolean;
  /** Starts the program. */
  start(sink: Sink): Program;
  /** Called when a person types, or sees output. */
  onUse(): void;
  limits: ExecutionLimits;
}

export const EXECUTION_LIMITS: ExecutionLimits = { awayMs: 3_600_000, keptMs: 60_000, drainMs: 1_000 };

/** A command that a person runs in the sandbox, and what the person's client has of its output. */
export class Execution {
  readonly userId: string;
  /** Resolves when it has ended and its end has been received, or is no longer kept. */
  readonly over: Promise<void>;
  readonly #program: Program;
  readonly #limits: ExecutionLimits;
  readonly #onUse: () => void;
  readonly #stdout: Output;
  readonly #stderr = new Output(false);
  readonly #forget: () => void;
  #client: Client | null = null;
  #exit: Extract<ExecEvent, { type: "exit" }> | null = null;
  #isExitSent = false;
  /** Bytes of standard input that have arrived, and that the program has. */
  #received = 0;
  #written = 0;
  #writing: Promise<unknown> = Promise.resolve();
  /** Readers that wait for a client to acknowledge. */
  #paused: (() => void)[] = [];
  #timer: Timer;

  /** @throws what `start` throws */
  constructor({ userId, isTerminal, start, onUse, limits }: ExecutionOptions) {
    this.userId = userId;
    this.#limits = limits;
    this.#onUse = onUse;
    this.#stdout = new Output(isTerminal);
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.over, this.#forget] = [promise, resolve];
    this.#program = start({
      stdout: (bytes) => this.#output(this.#stdout, bytes),
      stderr: (bytes) => this.#output(this.#stderr, bytes),
    });
    this.#timer = setTimeout(() => void this.end(), limits.awayMs);
    void this.#followProgram();
  }

  /** Ends the command. */
  async end(): Promise<void> {
    await this.#program.end();
  }

  /** Continues with a client that has so many bytes of the output. @returns false: it cannot have */
  attach(client: Client, has: { stdout: number; stderr: number }): boolean {
    const stdout = this.#stdout.resume(has.stdout);
    const stderr = this.#stderr.resume(has.stderr);
    if (stdout === null || stderr === null || stderr > has.stderr) return false;
    this.#client?.close(EXEC_CLOSE.replaced);
    this.#client = client;
    this.#isExitSent = false;
    clearTimeout(this.#timer);
    this.#send({ type: "attached", stdin: this.#received });
    if (stdout > has.stdout) this.#send({ type: "skipped", stdout });
    this.#pump();
    return true;
  }

  /** The connection was lost, or the client has left. */
  detach(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    clearTimeout(this.#timer);
    if (this.#isExitSent && this.#stdout.isAcknowledged && this.#stderr.isAcknowledged) this.#forget();
    else if (this.#exit) this.#timer = setTimeout(this.#forget, this.#limits.keptMs);
    else this.#timer = setTimeout(() => void this.end(), this.#limits.awayMs);
  }

  /** A message of the client. @returns false: it breaks the rules */
  receive(client: Client, message: string | Uint8Array): boolean {
    if (this.#client !== client) return true;
    if (typeof message !== "string") return this.#input(message);
    const request = readExecRequest(message);
    switch (request?.type) {
      case "ack": {
        const isValid = this.#stdout.acknowledge(request.stdout) && this.#stderr.acknowledge(request.stderr);
        for (const resume of this.#paused.splice(0)) resume();
        this.#pump();
        return isValid;
      }
      case "resize":
        return this.#resize(request);
      case "signal":
        void this.#program.signal(request.signal);
        return true;
      case "eof":
        this.#writing = this.#writing.then(() => this.#program.endInput());
        return true;
      case "end":
        void this.end();
        return true;
      default:
        // of a newer version
        return true;
    }
  }

  #resize({ cols, rows }: { cols: number; rows: number }): boolean {
    const isValid = isSize(cols) && isSize(rows);
    if (isValid) this.#program.resize(cols, rows);
    return isValid;
  }

  #input(message: Uint8Array): boolean {
    if (message[0] !== STREAM.stdin) return false;
    const bytes = message.slice(1);
    this.#received += bytes.length;
    if (this.#received - this.#written > WINDOW) return false;
    this.#onUse();
    this.#writing = this.#writing
      .then(() => this.#program.write(bytes))
      .then(() => {
        this.#written += bytes.length;
        this.#send({ type: "ack", stdin: this.#written });
      });
    return true;
  }

  async #output(output: Output, bytes: Uint8Array): Promise<void> {
    if (output.push(bytes)) this.#send({ type: "skipped", stdout: output.start });
    this.#pump();
    while (output.isFull && !this.#exit) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#paused.push(resolve);
      await promise;
    }
  }

  /** Sends what the client may have. */
  #pump(): void {
    const client = this.#client;
    if (!client) return;
    for (const [stream, output] of [
      [STREAM.stdout, this.#stdout],
      [STREAM.stderr, this.#stderr],
    ] as const)
      for (const bytes of output.take()) {
        client.send(messageOf(stream, bytes));
        this.#onUse();
      }
    if (!this.#exit || this.#isExitSent || !this.#stdout.isSent || !this.#stderr.isSent) return;
    this.#isExitSent = true;
    this.#send(this.#exit);
  }

  async #followProgram(): Promise<void> {
    const exit = await this.#program.exited;
    await untilSilent(
      this.#program,
      () => ({
        bytes: this.#stdout.end + this.#stderr.end,
        isWaiting: this.#stdout.isFull || this.#stderr.isFull,
      }),
      this.#limits.drainMs,
    );
    this.#program.close();
    this.#exit = { type: "exit", ...exit };
    if (!this.#client) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#forget, this.#limits.keptMs);
    }
    this.#pump();
  }

  #send(event: ExecEvent): void {
    this.#client?.send(JSON.stringify(event));
  }
}
