/** Bytes of a stream that are kept until the other side has them, numbered from 0. */
export class KeptBytes {
  #chunks: Uint8Array[] = [];
  #start = 0;
  #end = 0;

  /** The first byte that is kept. */
  get start(): number {
    return this.#start;
  }
  /** The number of bytes that there have been. */
  get end(): number {
    return this.#end;
  }
  /** In order, from `start`. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  /** @param chunk must not change afterwards */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#end += chunk.length;
  }

  /** Forgets the bytes before `offset`. */
  drop(offset: number): void {
    while (this.#start < offset) {
      const [first] = this.#chunks;
      if (first === undefined) break;
      const over = offset - this.#start;
      if (over < first.length) this.#chunks[0] = first.subarray(over);
      else this.#chunks.shift();
      this.#start += Math.min(over, first.length);
    }
  }
}
