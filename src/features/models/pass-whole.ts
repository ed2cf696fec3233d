import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Route } from "../../models/catalog.ts";
import type { Answer } from "../../splice/answer.ts";
import { ERROR_BODY_MAX, SHORT_BODY_MAX, SHORT_MS } from "./limits.ts";
import { type Outgoing, responseHeaders, type Sent, send, type UpstreamBody } from "./send.ts";

/** Sends a request that is answered within seconds and is not measured. @throws as `send` and `passWhole` */
export async function sendShort(
  deps: Pick<Deps, "log" | "outbound">,
  routes: readonly Route[],
  outgoing: Omit<Outgoing, "firstByteMs">,
): Promise<Answer> {
  return await passWhole(await send(deps, routes, { ...outgoing, firstByteMs: SHORT_MS }), outgoing.signal);
}

/**
 * Passes on a response that is not measured: an error, without the upstream's key, or a list of models or a count of tokens.
 * Of an error, its beginning is enough.
 * @param signal ends the upstream's response; it also ends after `SHORT_MS`
 * @throws model_unreachable if a response other than an error is cut or too large
 */
export async function passWhole({ response, body, via, abort }: Sent, signal: AbortSignal): Promise<Answer> {
  const { key } = via.upstream;
  const timer = setTimeout(abort, SHORT_MS);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const { text, isWhole } = await readText(body, response.ok ? SHORT_BODY_MAX : ERROR_BODY_MAX);
  clearTimeout(timer);
  signal.removeEventListener("abort", abort);
  abort();
  if (response.ok && !isWhole)
    throw new SvcError(
      "model_unreachable",
      "The response of the model's upstream was cut, or is too large. Try again, or ask the operator.",
    );
  return {
    status: response.status,
    headers: responseHeaders(response, via.upstream),
    body: text.replaceAll(key, "[redacted]"),
  };
}

/** The text of a body, up to `max` bytes; what has arrived if the connection breaks. */
async function readText(body: UpstreamBody, max: number): Promise<{ text: string; isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  try {
    while (!isWhole && size <= max) {
      const { done, value } = await body.next();
      if (value) parts.push(value);
      size += value?.byteLength ?? 0;
      isWhole = done && size <= max;
      if (done) break;
    }
  } catch {
    // the beginning of an error is better than none
  }
  return { text: Buffer.concat(parts).subarray(0, max).toString("utf8"), isWhole };
}
