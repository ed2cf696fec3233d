import { previewSite } from "../apps/site.ts";
import { SvcError } from "../contract/errors.ts";
import { NO_PREVIEW } from "../contract/preview.ts";
import { PREVIEW_LINK_PREFIX } from "../contract/token.ts";
import type { Deps } from "../deps.ts";
import type { Answer } from "../splice/answer.ts";
import type { Decision } from "../splice/connection.ts";
import type { RequestHead } from "../splice/head.ts";
import type { Admitted, Door } from "./door.ts";
import { isOwnOrigin, refuseForeign } from "./foreign.ts";
import type { Passage, Visit } from "./passage.ts";
import { previewCookies, writePreviewCookie } from "./preview-cookie.ts";
import type { PreviewPlace } from "./preview-host.ts";
import { spendPreviewLink, svcsOwn } from "./preview-link.ts";
import { readPath } from "./target.ts";

type Previews = (head: RequestHead, client: string, place: PreviewPlace) => Decision | Promise<Decision>;

/**
 * Requests to the name of a preview (contract: Preview): a browser signs in by a link, and is known by its cookie from
 * then on.
 * @returns what becomes of one; it throws SvcError, or rejects with it, for one that may not pass
 */
export function createPreviews(deps: Deps, door: Door, pass: Passage): Previews {
  return (head, client, place) => {
    if (NO_PREVIEW.includes(place.port)) throw svcsOwn(place.port);
    const asked = readPath(head.target);
    if (asked.startsWith("//")) throw new SvcError("validation_failed", "The path begins with two slashes.");
    const { path, token } = takeToken(asked);
    const cookies = previewCookies(deps, head);
    if (token !== null && head.method === "GET" && head.upgrade === null) {
      return signIn(deps, door, { place, path, token, cookies });
    }
    const visit = visitOf(deps, { head, client, place, path });
    const enter = (admitted: Admitted) => {
      refuseForeign(head);
      return pass(admitted, visit);
    };
    const admitted = door.byCookies(cookies, place);
    return admitted instanceof Promise ? admitted.then(enter) : enter(admitted);
  };
}

const OUR_TOKEN = new RegExp(`^token=${PREVIEW_LINK_PREFIX}[A-Za-z0-9_-]{43}$`);

/** Takes a link's token out of a path's query; a parameter of the app's own with that name stays. */
export function takeToken(path: string): { path: string; token: string | null } {
  const at = path.indexOf("?");
  const pairs = at < 0 ? [] : path.slice(at + 1).split("&");
  const token = pairs.find((pair) => OUR_TOKEN.test(pair));
  if (token === undefined) return { path, token: null };
  const rest = pairs.filter((pair) => !OUR_TOKEN.test(pair)).join("&");
  return { path: path.slice(0, at) + (rest && `?${rest}`), token: token.slice("token=".length) };
}

/** The token never stays in the address: the browser goes on without it, also when it is signed in already. */
async function signIn(
  deps: Deps,
  door: Door,
  { place, path, token, cookies }: { place: PreviewPlace; path: string; token: string; cookies: string[] },
): Promise<{ answer: Answer }> {
  const visitor = await spendPreviewLink(deps, token, place);
  if (!visitor) await door.byCookies(cookies, place);
  const headers = { Location: path, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };
  const cookie = visitor && { "Set-Cookie": writePreviewCookie(deps, place, visitor) };
  return { answer: { status: 303, headers: { ...headers, ...cookie } } };
}

/**
 * Development servers let in only hosts that they know, and hold `Origin` against `Host`. They all know what ends in
 * `.localhost`, so there the app sees its real name, and its own addresses are right. Elsewhere it is told that it is
 * asked as `localhost`, in both, so that it never sees two names: then an address that it makes of its host is wrong,
 * which breaks less than a refusal of everything.
 */
function visitOf(
  deps: Deps,
  { head, client, place, path }: { head: RequestHead; client: string; place: PreviewPlace; path: string },
): Visit {
  const isKnown = /(?:^|\.)localhost(?::\d+)?$/.test(previewSite(deps).host);
  const host = isKnown ? head.host : `localhost:${place.port}`;
  const origin = !isKnown && isOwnOrigin(head) ? `http://${host}` : null;
  return { head, client, ...place, path, seen: { host, origin, authorization: true } };
}
