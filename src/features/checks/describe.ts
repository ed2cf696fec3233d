import { STATUS_DESCRIPTION_MAX, TARGET_URL_MAX } from "../../contract/commit-status.ts";

/** A text as the description of a status, which is one short line. */
export function shortened(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, " ").toWellFormed();
  return line.length > STATUS_DESCRIPTION_MAX ? `${line.slice(0, STATUS_DESCRIPTION_MAX - 2)} …` : line;
}

/** A link that people follow; svc itself does not. @returns null when it is none, or holds a credential */
export function linkOf(text: string): string | null {
  const url = text.length > TARGET_URL_MAX ? null : URL.parse(text);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" ? url.href : null;
}

/** Begins the names of svc's checks on a git host, where they must not replace others. */
export const OWN_PREFIX = "svc/";
