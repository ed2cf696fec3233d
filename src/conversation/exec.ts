import {
  ACK_EVERY,
  CHUNK_MAX,
  EXEC_CLOSE,
  type ExecEvent,
  type ExecRequest,
  type ExecSignal,
  messageOf,
  readExecEvent,
  STREAM,
} from "../contract/exec-stream.ts";
import { KeptBytes } from "../contract/kept-bytes.ts";
import { sleep } from "./reconnect.ts";

/** How a command ended. Both null: svc ended it. */
export type ExecExit = Pick<Extract<ExecEvent, { type: "exit" }>, "code" | "signal">;

export interface ExecHandlers {
  /** Opens the WebSocket. @param query of the path: what the client has */
  connect(query: string): WebSocket;
  /** Why the command cannot be attached to any more; null: a new connection may succeed. */
  refusal(): Promise<Error | null>;
  /** Resolves when the bytes are written: the command pauses if they are not. */
  stdout(bytes: Uint8Array): Promise<void> | void;
  stderr(bytes: Uint8Array): Promise<void> | void;
  /** The connection was lost, and is made again. */
  onLost?(): void;
  onAttached?(): void;
  /** Output was left out, since the connection is too slow. */
  onSkipped?(): void;
}

/** Input on its way: as much as a person pastes. */
const INPUT_MAX = 256 * 1024;
/** Between two attempts to connect: the first, and the longest. */
const FIRST_MS = 200;
const LONGEST_MS = 5_000;
/** The time without a connection after which a client gives up. */
const LOST_MS = 5 * 60_000;

/** Another connection has the command now. */
export class ExecReplaced extends Error {
  override readonly name = "ExecReplaced";
}

/** The connection was lost, and cannot be made again. */
export class ExecLost extends Error {
  override readonly name = "ExecLost";
}

/** Uses a command in a sandbox, over as many connections as it takes (`src/contract/exec-stream.ts`). */
export class ExecClient {
  /** @throws ExecReplaced, ExecLost, what `refusal` finds */
  readonly finished: Promise<ExecExit>;
  readonly #handlers: ExecHandlers;
  readonly #settle: PromiseWithResolvers<ExecExit>;
  #socket: WebSocket | null = null;
  #isAttached = false;
  /** Whether there has been a connection. */
  #wasAttached = false;
  #pending: ExecRequest[] = [];
  #exit: ExecExit | null = null;
  #isGone = false;
  /** Bytes of the output that have arrived, and that are written and acknowledged. */
  readonly #arrived = { stdout: 0, stderr: 0 };
  readonly #written = { stdout: 0, stderr: 0 };
  #acknowledged = 0;
  #writing: Promise<unknown> = Promise.resolve();
  /** Input that the daemon has not acknowledged. */
  readonly #input = new KeptBytes();
  #isInputOver = false;
  #waiting: (() => void)[] = [];
  #size: { cols: number; rows: number } | null = null;

  constructor(handlers: ExecHandlers) {
    this.#handlers = handlers;
    this.#settle = Promise.withResolvers();
    this.finished = this.#settle.promise;
    void this.#stayConnected();
  }

  /** Sends input. Resolves when more may follow. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += CHUNK_MAX) {
      const chunk = bytes.slice(at, at + CHUNK_MAX);
      this.#input.push(chunk);
      if (this.#isAttached) this.#sendInput(chunk);
    }
    while (this.#isInputFull && !this.#exit) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
  }

  endInput(): void {
    this.#isInputOver = true;
    if (this.#isAttached) this.#send({ type: "eof" });
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    if (this.#isAttached) this.#send({ type: "resize", cols, rows });
  }

  signal(signal: ExecSignal): void {
    this.#request({ type: "signal", signal });
  }

  /** Leaves, and ends the command; without a connection, the command goes on until its sandbox misses its client. */
  end(): void {
    this.#request({ type: "end" });
    if (this.#isAttached || !this.#wasAttached) return;
    this.#isGone = true;
    this.#settle.reject(new ExecLost("The connection is lost. The command may go on for an hour."));
  }

  /** Sends a request now, or when there is a connection. */
  #request(request: ExecRequest): void {
    if (this.#isAttached) this.#send(request);
    else this.#pending.push(request);
  }

  async #stayConnected(): Promise<void> {
    let lostAt: number | null = null;
    for (let delay = FIRST_MS; ; delay = Math.min(2 * delay, LONGEST_MS)) {
      const { code, wasAttached } = await this.#connection();
      if (this.#exit) return this.#settle.resolve(this.#exit);
      if (this.#isGone) return;
      if (code === EXEC_CLOSE.replaced)
        return this.#settle.reject(new ExecReplaced("Another connection has taken the command over."));
      if (code === EXEC_CLOSE.invalid)
        return this.#settle.reject(new ExecLost("The sandbox does not understand this version of svc."));
      if (wasAttached) {
        [lostAt, delay] = [performance.now(), FIRST_MS];
        this.#handlers.onLost?.();
      } else {
        const refusal = await this.#handlers.refusal().catch(() => null);
        if (refusal) return this.#settle.reject(refusal);
      }
      lostAt ??= performance.now();
      if (performance.now() - lostAt > LOST_MS)
        return this.#settle.reject(new ExecLost("The connection was lost for more than five minutes."));
      await sleep(delay);
    }
  }

  /** One connection, to its end. */
  async #connection(): Promise<{ code: number; wasAttached: boolean }> {
    const { stdout, stderr } = this.#arrived;
    const socket = this.#handlers.connect(`stdout=${stdout}&stderr=${stderr}`);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    let wasAttached = false;
    const { promise, resolve } = Promise.withResolvers<number>();
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === "string") this.#event(data);
      else if (data instanceof ArrayBuffer) this.#output(new Uint8Array(data));
      wasAttached ||= this.#isAttached;
    };
    socket.onclose = ({ code }) => resolve(code);
    const code = await promise;
    this.#isAttached = false;
    this.#socket = null;
    return { code, wasAttached };
  }

  #event(text: string): void {
    const event = readExecEvent(text);
    switch (event?.type) {
      case "attached":
        this.#isAttached = true;
        this.#wasAttached = true;
        this.#dropInput(event.stdin);
        if (this.#size) this.#send({ type: "resize", ...this.#size });
        for (const chunk of this.#input.chunks) this.#sendInput(chunk);
        if (this.#isInputOver) this.#send({ type: "eof" });
        for (const request of this.#pending.splice(0)) this.#send(request);
        this.#handlers.onAttached?.();
        break;
      case "ack":
        this.#dropInput(event.stdin);
        break;
      case "skipped":
        this.#arrived.stdout = event.stdout;
        this.#writing = this.#writing.then(() => {
          this.#written.stdout = event.stdout;
          this.#acknowledge();
          this.#handlers.onSkipped?.();
        });
        break;
      case "exit":
        this.#writing = this.#writing.then(() => {
          this.#exit = event;
          this.#acknowledge();
          for (const resume of this.#waiting.splice(0)) resume();
          this.#socket?.close(1000);
        });
        break;
    }
  }

  #output(message: Uint8Array): void {
    const stream = message[0] === STREAM.stderr ? "stderr" : "stdout";
    const bytes = message.subarray(1);
    this.#arrived[stream] += bytes.length;
    this.#writing = this.#writing
      .then(() => this.#handlers[stream](bytes))
      .then(
        () => {
          this.#written[stream] += bytes.length;
          if (this.#written.stdout + this.#written.stderr - this.#acknowledged >= ACK_EVERY)
            this.#acknowledge();
        },
        // nobody reads the output any more
        (error: unknown) => {
          this.#isGone = true;
          this.#settle.reject(error);
          this.end();
          this.#socket?.close(1000);
        },
      );
  }

  #acknowledge(): void {
    const { stdout, stderr } = this.#written;
    this.#acknowledged = stdout + stderr;
    this.#send({ type: "ack", stdout, stderr });
  }

  #dropInput(offset: number): void {
    this.#input.drop(offset);
    if (!this.#isInputFull) for (const resume of this.#waiting.splice(0)) resume();
  }

  get #isInputFull(): boolean {
    return this.#input.end - this.#input.start > INPUT_MAX;
  }

  #sendInput(bytes: Uint8Array): void {
    this.#socket?.send(messageOf(STREAM.stdin, bytes));
  }

  #send(request: ExecRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request));
  }
}
