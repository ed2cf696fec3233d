import type { Transport } from "../../src/conversation/transport.ts";
import { callProxied, open, unexpected, unreachable } from "./call.ts";
import { chunksOf } from "./events.ts";

/** Sends the requests of the code that the CLI and the dashboard share. Methods throw ApiFailure. */
export const REACH: Transport = {
  get: (path, query = {}) => callProxied("GET", path + queryOf(query)),
  post: (path, body) => callProxied("POST", path, { body }),
  async stream(path, { signal, silentSeconds, headers = {} }) {
    const silence = new AbortController();
    const watch = () => setTimeout(() => silence.abort(), silentSeconds * 1000);
    const timer = watch();
    try {
      const response = await open(
        path,
        { Accept: "text/event-stream", ...headers },
        AbortSignal.any([signal, silence.signal]),
      );
      if (!response.body) throw unreachable();
      return receive(response.body, watch, signal);
    } catch (error) {
      throw silence.signal.aborted && !signal.aborted ? unreachable() : error;
    } finally {
      clearTimeout(timer);
    }
  },
  unexpected,
};

/** Throws ApiFailure if the stream is cut or is silent for too long. */
async function* receive(
  body: ReadableStream<Uint8Array>,
  watch: () => ReturnType<typeof setTimeout>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let timer = watch();
  try {
    for await (const chunk of chunksOf(body)) {
      clearTimeout(timer);
      yield chunk;
      timer = watch();
    }
  } catch (error) {
    throw signal.aborted ? error : unreachable();
  } finally {
    clearTimeout(timer);
  }
}

function queryOf(query: Readonly<Record<string, string | number>>): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  ).toString();
  return text && `?${text}`;
}
