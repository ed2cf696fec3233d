import type { Field } from "../src/splice/fields.ts";
import type { RequestHead } from "../src/splice/head.ts";
import { CONTEXT_HEADER } from "./caller.ts";

/** The prefixes of svc's tokens. */
const TOKEN_PREFIX = /^svc_(?:pat|git|sb)_/;

export function isOurToken(value: string): boolean {
  return TOKEN_PREFIX.test(value);
}

/**
 * The head of a forwarded request (latin1): unchanged, except for its target and the headers that identify the caller.
 * @param authorization replaces the client's header; null: the client's is kept, unless it contains a token of svc
 */
export function forwardHead(head: RequestHead, target: string, authorization: string | null): string {
  let text = `${head.method} ${target} HTTP/${head.version}\r\n`;
  for (const field of head.fields)
    if (!isWithheld(field, authorization !== null)) text += `${field.name}: ${field.value}\r\n`;
  if (authorization !== null) text += `Authorization: ${authorization}\r\n`;
  return `${text}\r\n`;
}

function isWithheld({ key, value }: Field, isReplaced: boolean): boolean {
  if (key === CONTEXT_HEADER) return true;
  return key === "authorization" && (isReplaced || holdsOurToken(value));
}

function holdsOurToken(value: string): boolean {
  const [, scheme = "", rest = ""] = /^(\S+) +(.*)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== "basic") return isOurToken(rest.trim());
  return Buffer.from(rest, "base64").toString("latin1").split(":").some(isOurToken);
}
