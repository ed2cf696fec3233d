import { arrayOf, isObject, parseJson } from "./json.ts";

/** The secret with the file that `codex login` writes (`auth.json`): a login of Codex. */
export const CODEX_LOGIN = "CODEX_AUTH_JSON";

/** Its names of modes and dates are shorter than its tokens. */
const TOKEN_MIN = 32;

/** The texts by which the value of a secret is found: a login of Codex also by each of its tokens. */
export function secretTexts(name: string, value: string): string[] {
  return name === CODEX_LOGIN ? [value, ...loginTokens(value)] : [value];
}

/** The tokens of a login of Codex. */
export function loginTokens(text: string): string[] {
  // not by recursion, since it may be nested as deeply as it is long
  const values = [parseJson(text)];
  for (const value of values)
    for (const inside of isObject(value) ? Object.values(value) : arrayOf(value)) values.push(inside);
  return values.filter((value) => typeof value === "string").filter(({ length }) => length >= TOKEN_MIN);
}
