import { CHUNK_MAX, WINDOW } from "../../src/contract/exec-stream.ts";

/** What a terminal shows at once, and some screens before it. */
const KEPT_OF_TERMINAL = 256 * 1024;

/** One stream of a command's output, from the first byte that the client has not acknowledged. Bytes are numbered from 0. */
export class Output {
  #chunks: Uint8Array[] = [];
  /** The first byte that is kept: the client has those before it, or they were dropped. */
  #start = 0;
  #acknowledged = 0;
  #sent = 0;
  #end = 0;
  readonly #isTerminal: boolean;

  /** @param isTerminal a terminal cannot be paused: if the client does not keep up, bytes that were not sent are dropped */
  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  get start(): number {
    return this.#start;
  }
  get end(): number {
    return this.#end;
  }
  /** Whether the source must pause. */
  get isFull(): boolean {
    return !this.#isTerminal && this.#end - this.#acknowledged >= WINDOW;
  }
  get isSent(): boolean {
    return this.#sent === this.#end;
  }
  get isAcknowledged(): boolean {
    return this.#acknowledged === this.#end;
  }

  /** @returns whether bytes that were not sent have been dropped: the client continues at `start` */
  push(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at += CHUNK_MAX) this.#chunks.push(bytes.slice(at, at + CHUNK_MAX));
    this.#end += bytes.length;
    if (!this.#isTerminal || this.#end - this.#sent <= WINDOW) return false;
    this.#drop(this.#end - KEPT_OF_TERMINAL);
    return true;
  }

  /** @returns false: that many bytes were not sent */
  acknowledge(offset: number): boolean {
    if (offset > this.#sent) return false;
    this.#acknowledged = Math.max(this.#acknowledged, offset);
    this.#drop(offset);
    return true;
  }

  /**
   * A new client, which has the first `offset` bytes.
   * @returns where it continues: later, if bytes were dropped; null: it cannot have that many
   */
  resume(offset: number): number | null {
    if (offset > this.#end) return null;
    this.#sent = Math.max(offset, this.#start);
    this.#acknowledged = this.#sent;
    this.#drop(offset);
    return this.#sent;
  }

  /** The bytes that may be sent now. They count as sent. */
  *take(): Generator<Uint8Array> {
    let at = this.#start;
    for (const chunk of [...this.#chunks]) {
      const from = this.#sent - at;
      at += chunk.length;
      if (from >= chunk.length) continue;
      if (this.#sent - this.#acknowledged >= WINDOW) return;
      this.#sent = at;
      yield chunk.subarray(from);
    }
  }

  /** Forgets the bytes before `offset`. */
  #drop(offset: number): void {
    while (this.#start < offset) {
      const [first] = this.#chunks;
      if (first === undefined) break;
      const over = offset - this.#start;
      if (over < first.length) this.#chunks[0] = first.subarray(over);
      else this.#chunks.shift();
      this.#start += Math.min(over, first.length);
    }
    this.#sent = Math.max(this.#sent, this.#start);
  }
}
