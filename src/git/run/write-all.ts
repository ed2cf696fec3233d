/**
 * Writes to the standard input of a child and waits until it has been read.
 * @returns false when the child does not read any more. If it has just died, Bun fails the write or the flush with an
 *   error or a rejection; an unhandled rejection would end the server.
 */
export async function writeAll(stdin: Bun.FileSink, piece: string | Uint8Array): Promise<boolean> {
  const write = async () => await stdin.write(piece);
  const flush = async () => await stdin.flush();
  const outcomes = await Promise.allSettled([write(), flush()]);
  return outcomes.every(({ status }) => status === "fulfilled");
}
