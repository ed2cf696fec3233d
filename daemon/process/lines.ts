/** The rest of a longer line is dropped. */
const LINE_MAX_BYTES = 16 * 1024;

/** Calls `onLine` for each line of a stream until the stream ends. */
export function forEachLine(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): void {
  void readLines(stream, onLine);
}

/** The same; resolves at the end of the stream. */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  onLine: (line: string) => void,
): Promise<void> {
  await read(stream, onLine).catch(() => {});
}

async function read(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of stream) {
    const lines = decoder.decode(piece, { stream: true }).split("\n");
    lines[0] = rest + lines[0];
    rest = (lines.pop() ?? "").slice(0, LINE_MAX_BYTES);
    for (const line of lines) onLine(line);
  }
  if (rest !== "") onLine(rest);
}
