/**
 * Writes to the standard input of a child and waits until it is taken.
 * @returns false when the child reads no more. Of a child that has just died, Bun fails the write or the flush, by an
 *   error or a promise; a promise that fails unheard would end the server.
 */
export async function writeAll(stdin: Bun.FileSink, piece: string | Uint8Array): Promise<boolean> {
  const write = async () => await stdin.write(piece);
  const flush = async () => await stdin.flush();
  const outcomes = await Promise.allSettled([write(), flush()]);
  return outcomes.every(({ status }) => status === "fulfilled");
}
