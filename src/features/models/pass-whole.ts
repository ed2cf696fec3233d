import type { Answer } from "../../splice/answer.ts";
import { ERROR_BODY_MAX } from "./limits.ts";
import { responseHeaders, type Sent, type UpstreamBody } from "./send.ts";

/** Passes on a short response that is not measured: an error, without the upstream's key, or a count of tokens. */
export async function passWhole({ response, body, via, abort }: Sent): Promise<Answer> {
  const { key } = via.upstream;
  const text = await readText(body, ERROR_BODY_MAX);
  abort();
  return {
    status: response.status,
    headers: responseHeaders(response, via.upstream),
    body: text.replaceAll(key, "[redacted]"),
  };
}

/** The text of a body, up to `max` bytes; what has arrived if the connection breaks. */
async function readText(body: UpstreamBody, max: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < max) {
      const { done, value } = await body.next();
      if (value) parts.push(value);
      size += value?.byteLength ?? 0;
      if (done) break;
    }
  } catch {
    // the beginning of an error is better than none
  }
  return Buffer.concat(parts).subarray(0, max).toString("utf8");
}
