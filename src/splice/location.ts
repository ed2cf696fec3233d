import type { ResponseHead } from "./head.ts";

/** @param address the value of `Location`. @returns the one to send instead */
export type ReplaceLocation = (address: string) => string;

const LOCATION = /(\r\nlocation:[\t ]*)([^\r\n]*?)([\t ]*\r\n)/i;

/**
 * Replaces the address in the head of a redirect.
 * @param bytes the whole head, blank line included
 * @returns the head to send; null: it stays as it is
 */
export function replaceLocation(
  { status }: Pick<ResponseHead, "status">,
  bytes: Buffer,
  replace: ReplaceLocation,
): Buffer | null {
  if (status < 300 || status > 399) return null;
  const text = bytes.toString("latin1");
  const replaced = text.replace(LOCATION, (_, name: string, address: string, end: string) =>
    [name, replace(address), end].join(""),
  );
  return replaced === text ? null : Buffer.from(replaced, "latin1");
}
