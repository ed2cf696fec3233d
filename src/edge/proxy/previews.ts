import { NO_PREVIEW } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { previewSite } from "../../features/apps/site.ts";
import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { enterByLink } from "./by-link.ts";
import type { Client } from "./client.ts";
import type { Admitted, Door } from "./door.ts";
import { isOwnOrigin } from "./foreign.ts";
import type { Passage, Visit } from "./passage.ts";
import { writePreviewCookie } from "./preview-cookie.ts";
import type { PreviewPlace } from "./preview-host.ts";
import { spendPreviewLink, svcsOwn } from "./preview-link.ts";

type Previews = (head: RequestHead, client: Client, place: PreviewPlace) => Decision | Promise<Decision>;

/**
 * Requests to the name of a preview (contract: Preview): a browser signs in by a link, and is known by its cookie from
 * then on.
 * @returns what becomes of one; it throws SvcError, or rejects with it, for one that may not pass
 */
export function createPreviews(deps: Deps, door: Door, pass: Passage): Previews {
  return (head, client, place) => {
    if (NO_PREVIEW.includes(place.port)) throw svcsOwn(place.port);
    return enterByLink<Admitted>(deps, head, {
      async signIn(token) {
        const visitor = await spendPreviewLink(deps, token, place);
        return visitor && writePreviewCookie(deps, place, visitor);
      },
      admit: (cookies) => door.byCookies(cookies, place),
      pass: (admitted, path) => pass(admitted, visitOf(deps, { head, client, place, path })),
    });
  };
}

/**
 * Development servers let in only hosts that they know, and hold `Origin` against `Host`. They all know what ends in
 * `.localhost`, so there the app sees its real name, and its own addresses are right. Elsewhere it is told that it is
 * asked as `localhost`, in both, so that it never sees two names: then an address that it makes of its host is wrong,
 * which breaks less than a refusal of everything.
 */
function visitOf(
  deps: Deps,
  { head, client, place, path }: { head: RequestHead; client: Client; place: PreviewPlace; path: string },
): Visit {
  const isKnown = /(?:^|\.)localhost(?::\d+)?$/.test(previewSite(deps).host);
  const host = isKnown ? head.host : `localhost:${place.port}`;
  const origin = !isKnown && isOwnOrigin(head) ? `http://${host}` : null;
  return { head, client, ...place, path, seen: { host, origin, authorization: true } };
}
