import type { Field } from "../src/splice/fields.ts";
import type { RequestHead } from "../src/splice/head.ts";
import { CONTEXT_HEADER } from "./caller.ts";

/** What svc's own tokens begin with: `svc_pat_`, `svc_git_`, `svc_sb_`. */
const OURS = /^svc_(?:pat|git|sb)_/;

export function isOurToken(value: string): boolean {
  return OURS.test(value);
}

/**
 * A request's head as it goes on, each character a byte: byte for byte but for its target, and for what says who asks.
 * @param authorization what takes the place of the client's own; null: that stays, unless it holds a token of svc's
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
