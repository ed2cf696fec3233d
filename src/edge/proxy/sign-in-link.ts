import { SvcError } from "../../contract/errors.ts";
import { PREVIEW_LINK_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import type { Answer } from "../../splice/answer.ts";
import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { previewCookies } from "./preview-cookie.ts";
import { readPath } from "./target.ts";

/** A sign-in by a one-time link, at a host name other than the API's. */
export interface LinkSignIn<Admitted> {
  /** Redeems a link's token. @returns the `Set-Cookie` that signs the browser in; null when the token is invalid */
  signIn(token: string): Promise<string | null>;
  /** Admits a browser by its cookies. @throws SvcError when none is valid */
  admit(cookies: readonly string[]): Admitted | Promise<Admitted>;
  /** @param path as requested, without the link's token */
  pass(admitted: Admitted, path: string): Decision | Promise<Decision>;
}

/**
 * Admits a browser by a link, or by the cookie that an earlier link has set.
 * @returns the decision; throws SvcError, or rejects with it, when access is denied
 */
export function signInByLink<Admitted>(
  deps: Deps,
  head: RequestHead,
  options: LinkSignIn<Admitted>,
): Decision | Promise<Decision> {
  const asked = readPath(head.target);
  if (asked.startsWith("//"))
    throw new SvcError("validation_failed", "The path must not begin with two slashes.");
  const { path, token } = takeToken(asked);
  const cookies = previewCookies(deps, head);
  if (token !== null && head.method === "GET" && head.upgrade === null)
    return signIn(options, { path, token, cookies });
  const admitted = options.admit(cookies);
  return admitted instanceof Promise
    ? admitted.then((found) => options.pass(found, path))
    : options.pass(admitted, path);
}

const OUR_TOKEN = new RegExp(`^token=${PREVIEW_LINK_PREFIX}[A-Za-z0-9_-]{43}$`);

/** Removes a link's token from a path's query; the app's own parameters of that name stay. */
function takeToken(path: string): { path: string; token: string | null } {
  const at = path.indexOf("?");
  const pairs = at < 0 ? [] : path.slice(at + 1).split("&");
  const token = pairs.find((pair) => OUR_TOKEN.test(pair));
  if (token === undefined) return { path, token: null };
  const rest = pairs.filter((pair) => !OUR_TOKEN.test(pair)).join("&");
  return { path: path.slice(0, at) + (rest && `?${rest}`), token: token.slice("token=".length) };
}

/** Redirects to the path without the token, also when the browser is already signed in. */
async function signIn<Admitted>(
  options: LinkSignIn<Admitted>,
  { path, token, cookies }: { path: string; token: string; cookies: string[] },
): Promise<{ answer: Answer }> {
  const cookie = await options.signIn(token);
  if (cookie === null) await options.admit(cookies);
  const headers = { Location: path, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };
  return {
    answer: { status: 303, headers: { ...headers, ...(cookie !== null && { "Set-Cookie": cookie }) } },
  };
}
