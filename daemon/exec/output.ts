import { CHUNK_MAX, WINDOW } from "../../src/contract/exec-stream.ts";
import { KeptBytes } from "../../src/contract/kept-bytes.ts";

/** What a terminal shows at once, and some screens before it. */
const KEPT_OF_TERMINAL = 256 * 1024;

/** One stream of a command's output, from the first byte that the client has not acknowledged. Bytes are numbered from 0. */
export class Output {
  readonly #kept = new KeptBytes();
  #acknowledged = 0;
  #sent = 0;
  readonly #isTerminal: boolean;

  /** @param isTerminal a terminal cannot be paused: if the client does not keep up, bytes that were not sent are dropped */
  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  /** The first byte that is kept: the client has those before it, or they were dropped. */
  get start(): number {
    return this.#kept.start;
  }
  get end(): number {
    return this.#kept.end;
  }
  /** Whether the source must pause. */
  get isFull(): boolean {
    return !this.#isTerminal && this.#kept.end - this.#acknowledged >= WINDOW;
  }
  /** The first byte that was not sent. */
  get sent(): number {
    return this.#sent;
  }
  get isSent(): boolean {
    return this.#sent === this.#kept.end;
  }
  get isAcknowledged(): boolean {
    return this.#acknowledged === this.#kept.end;
  }

  /** @returns whether bytes that were not sent have been dropped: the client continues at `start` */
  push(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at += CHUNK_MAX) this.#kept.push(bytes.slice(at, at + CHUNK_MAX));
    if (!this.#isTerminal || this.#kept.end - this.#sent <= WINDOW) return false;
    this.#drop(this.#kept.end - KEPT_OF_TERMINAL);
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
    if (offset > this.#kept.end) return null;
    this.#sent = Math.max(offset, this.#kept.start);
    this.#acknowledged = this.#sent;
    this.#drop(offset);
    return this.#sent;
  }

  /** The bytes that may be sent now. They count as sent. */
  *take(): Generator<Uint8Array> {
    let at = this.#kept.start;
    for (const chunk of [...this.#kept.chunks]) {
      const from = this.#sent - at;
      at += chunk.length;
      if (from >= chunk.length) continue;
      if (this.#sent - this.#acknowledged >= WINDOW) return;
      this.#sent = at;
      yield chunk.subarray(from);
    }
  }

  #drop(offset: number): void {
    this.#kept.drop(offset);
    this.#sent = Math.max(this.#sent, this.#kept.start);
  }
}
