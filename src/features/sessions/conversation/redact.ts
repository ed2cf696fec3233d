import { secretTexts } from "../../../contract/codex-login.ts";

/** Shorter values occur in texts by chance. */
const VALUE_MIN = 8;
/** Each prefix in `contract/token.ts`, with a secret behind it. */
const OWN_TOKEN = /\bsvc_(?:pat|git|sb|pv|bs|ln|llm)_[A-Za-z0-9_.-]{16,}/g;

/** Replaces the values of secrets, and tokens of svc, in a text. */
export type Redact = (text: string) => string;

/**
 * Each value becomes `[secret NAME]`. Values of less than 8 characters are kept.
 * @param secrets values by name
 */
export function createRedact(secrets: Readonly<Record<string, string>>): Redact {
  const values = Object.entries(secrets)
    .flatMap(([name, value]) => secretTexts(name, value).map((text) => [name, text] as const))
    .filter(([, value]) => value.length >= VALUE_MIN)
    // one value may contain another
    .toSorted(([, a], [, b]) => b.length - a.length);
  return (text) => {
    const redacted = values.reduce((rest, [name, value]) => rest.replaceAll(value, `[secret ${name}]`), text);
    return redacted.replace(OWN_TOKEN, "[token of svc]");
  };
}
