/** A longer line is passed on in chunks. */
const LINE_MAX = 64 * 1024;

/** Decodes streamed bytes into chunks of whole lines. */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const end = rest.lastIndexOf("\n") + 1;
    if (end === 0 && rest.length < LINE_MAX) continue;
    const cut = end === 0 ? rest.length : end;
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
