import { SvcError } from "../contract/errors.ts";
import { isObject } from "../contract/json.ts";
import { AGENT_RECORD_BODY_MAX_BYTES, BODY_MAX_BYTES, PROMPT_BODY_MAX_BYTES } from "../contract/limits.ts";

/** Paths below a project whose bodies may be larger than others, and the most bytes. */
const LARGER: readonly [RegExp, number][] = [
  // it has attachments
  [/^\/v1\/projects\/[^/?]+\/sessions\/[^/?]+\/prompt(?:\?|$)/, PROMPT_BODY_MAX_BYTES],
  [/^\/v1\/projects\/[^/?]+\/git\/agent-record(?:\?|$)/, AGENT_RECORD_BODY_MAX_BYTES],
];

/** The most bytes of a body. @param target a path, which may have a query */
export function bodyMaxOf(target: string): number {
  return LARGER.find(([path]) => path.test(target))?.[1] ?? BODY_MAX_BYTES;
}

/**
 * Reads a request's JSON body, an object, whatever its content type says; no body is `undefined`. The framework does not
 * validate other values where the body is optional.
 * @throws payload_too_large past `bodyMaxOf`, however the length is declared; invalid_json; validation_failed.
 */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBounded(request, bodyMaxOf(new URL(request.url).pathname));
  if (bytes.byteLength === 0) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes), printable);
  } catch {
    throw new SvcError(
      "invalid_json",
      "The body is not JSON in UTF-8. Send JSON with Content-Type: application/json.",
    );
  }
  if (!isObject(body)) throw new SvcError("validation_failed", "The body must be a JSON object.");
  return body;
}

/** The framework prints invalid values in its errors, which fails for a value with its own `toString` or `valueOf`. */
function printable(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Object.hasOwn(value, "toString") || Object.hasOwn(value, "valueOf")) {
    Object.defineProperty(value, Symbol.toPrimitive, { value: () => "an object" });
  }
  return value;
}

/** Reads a request's body as bytes. @throws payload_too_large past `max` bytes, however the length is declared */
export async function readBounded(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  refuseLarger(request, max);
  if (!request.body) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body) {
    size += part.byteLength;
    if (size > max) throw tooLarge(max);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Rejects a body by its `Content-Length`, before any of it is read. @throws payload_too_large past `max` bytes */
export function refuseLarger(request: Request, max: number): void {
  if (Number(request.headers.get("content-length") ?? 0) > max) throw tooLarge(max);
}

function tooLarge(max: number): SvcError {
  return new SvcError("payload_too_large", `The body is larger than ${max} bytes.`);
}
