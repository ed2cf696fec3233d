/** A line of input; null: it was longer than the limit, and its content is discarded. */
export type InputLine = string | null;

/** The lines of a stream that are not empty, each up to `max` bytes. */
export async function* readLines(input: AsyncIterable<Uint8Array>, max: number): AsyncGenerator<InputLine> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield* take();
    }
    add(chunk.subarray(from));
  }
  yield* take();

  function add(part: Uint8Array): void {
    size += part.byteLength;
    if (size <= max) parts.push(part);
    else parts = [];
  }

  function* take(): Generator<InputLine> {
    const line = size > max ? null : Buffer.concat(parts).toString("utf8").trim();
    [parts, size] = [[], 0];
    if (line !== "") yield line;
  }
}

const NEWLINE = 10;
