import { SvcError } from "../../contract/errors.ts";
import { PREVIEW_LINK_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import type { Answer } from "../../splice/answer.ts";
import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { refuseForeign } from "./foreign.ts";
import { previewCookies } from "./preview-cookie.ts";
import { readPath } from "./target.ts";

/** A host name that is not the API's, into which a browser is let by a link that works once. */
export interface Entrance<Admitted> {
  /** Uses a link's token up. @returns the `Set-Cookie` that signs the browser in; null: the token is worth nothing */
  signIn(token: string): Promise<string | null>;
  /** Lets a browser in by its cookies. @throws SvcError where none counts */
  admit(cookies: readonly string[]): Admitted | Promise<Admitted>;
  /** @param path as it was asked for, without the link's token */
  pass(admitted: Admitted, path: string): Decision | Promise<Decision>;
}

/**
 * Lets a browser in that comes by a link, or by the cookie that an earlier one has given it.
 * @returns what becomes of the request; it throws SvcError, or rejects with it, for one that may not pass
 */
export function enterByLink<Admitted>(
  deps: Deps,
  head: RequestHead,
  entrance: Entrance<Admitted>,
): Decision | Promise<Decision> {
  const asked = readPath(head.target);
  if (asked.startsWith("//"))
    throw new SvcError("validation_failed", "The path must not begin with two slashes.");
  const { path, token } = takeToken(asked);
  const cookies = previewCookies(deps, head);
  if (token !== null && head.method === "GET" && head.upgrade === null)
    return signIn(entrance, { path, token, cookies });
  const enter = (admitted: Admitted) => {
    refuseForeign(head);
    return entrance.pass(admitted, path);
  };
  const admitted = entrance.admit(cookies);
  return admitted instanceof Promise ? admitted.then(enter) : enter(admitted);
}

const OUR_TOKEN = new RegExp(`^token=${PREVIEW_LINK_PREFIX}[A-Za-z0-9_-]{43}$`);

/** Takes a link's token out of a path's query; a parameter of the app's own with that name stays. */
function takeToken(path: string): { path: string; token: string | null } {
  const at = path.indexOf("?");
  const pairs = at < 0 ? [] : path.slice(at + 1).split("&");
  const token = pairs.find((pair) => OUR_TOKEN.test(pair));
  if (token === undefined) return { path, token: null };
  const rest = pairs.filter((pair) => !OUR_TOKEN.test(pair)).join("&");
  return { path: path.slice(0, at) + (rest && `?${rest}`), token: token.slice("token=".length) };
}

/** The token never stays in the address: the browser goes on without it, also when it is signed in already. */
async function signIn<Admitted>(
  entrance: Entrance<Admitted>,
  { path, token, cookies }: { path: string; token: string; cookies: string[] },
): Promise<{ answer: Answer }> {
  const cookie = await entrance.signIn(token);
  if (cookie === null) await entrance.admit(cookies);
  const headers = { Location: path, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };
  return {
    answer: { status: 303, headers: { ...headers, ...(cookie !== null && { "Set-Cookie": cookie }) } },
  };
}
