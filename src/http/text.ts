import { SvcError } from "../contract/errors.ts";

/**
 * Checks a text from outside that will be stored.
 * @throws validation_failed for NUL (Postgres cannot hold it) and for more bytes of UTF-8 than `maxBytes`.
 */
export function storable(field: string, text: string, maxBytes: number): string {
  if (text.includes("\0")) throw invalid(field, "must not contain NUL characters");
  if (Buffer.byteLength(text) > maxBytes) throw invalid(field, `must be at most ${maxBytes} bytes of UTF-8`);
  return text.toWellFormed();
}

/** Characters of a text from outside in an error message. */
const SHOWN_MAX = 100;

/** A text from outside, for an error message. */
export const shorten = (text: string): string =>
  text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;

/** Like `storable`, for a free-form object, by the size of its JSON. */
export function storableObject(
  field: string,
  value: Record<string, unknown>,
  maxBytes: number,
): Record<string, unknown> {
  const json = storable(field, JSON.stringify(value), maxBytes);
  if (json.includes("\\u0000")) throw invalid(field, "must not contain NUL characters");
  return value;
}

function invalid(path: string, message: string): SvcError {
  return new SvcError("validation_failed", `${path} ${message}.`, { details: [{ path, message }] });
}

/** Names that a sentence has. */
const LISTED_MAX = 3;

/** Names for a sentence: a few of them, shortened, and how many more there are. */
export function listed(names: readonly string[]): string {
  const left = names.length - LISTED_MAX;
  return [...names.slice(0, LISTED_MAX).map(shorten), ...(left > 0 ? [`${left} more`] : [])].join(", ");
}
