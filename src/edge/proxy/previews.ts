import { NO_PREVIEW } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { previewSite } from "../../features/apps/site.ts";
import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import type { Admission, Admitted } from "./admission.ts";
import type { Client } from "./client.ts";
import { isOwnOrigin, refuseCrossSite } from "./cross-site.ts";
import type { Forward, Visit } from "./forward.ts";
import { writePreviewCookie } from "./preview-cookie.ts";
import { type PreviewPlace, previewOrigin } from "./preview-host.ts";
import { redeemPreviewLink, reservedPort } from "./preview-link.ts";
import { signInByLink } from "./sign-in-link.ts";

type Previews = (head: RequestHead, client: Client, place: PreviewPlace) => Decision | Promise<Decision>;

/**
 * Handles requests to the host name of a preview (contract: Preview): a browser signs in by a link, and then by its cookie.
 * @returns decides on a request; throws SvcError, or rejects with it, when access is denied
 */
export function createPreviews(deps: Deps, admission: Admission, pass: Forward): Previews {
  return (head, client, place) => {
    if (NO_PREVIEW.includes(place.port)) throw reservedPort(place.port);
    return signInByLink<Admitted>(deps, head, {
      async signIn(token) {
        const visitor = await redeemPreviewLink(deps, token, place);
        return visitor && writePreviewCookie(deps, place, visitor);
      },
      admit: (cookies) => admission.byCookies(cookies, place),
      pass(admitted, path) {
        refuseCrossSite(head);
        const decision = pass(admitted, visitOf(deps, { head, client, place, path }));
        return decision instanceof Promise ? decision : withRedirects(deps, place, decision);
      },
    });
  };
}

/** Redirects to the sandbox's own loopback lead to the preview of that port: the browser's loopback is another machine's. */
function withRedirects(deps: Deps, { sessionId }: PreviewPlace, decision: Decision): Decision {
  if (!("to" in decision)) return decision;
  const location = (address: string) => {
    const [, port = "", rest = ""] = ON_LOOPBACK.exec(address) ?? [];
    if (port === "" || Number(port) > 65_535 || NO_PREVIEW.includes(Number(port))) return address;
    return previewOrigin(deps, { sessionId, port: Number(port) }) + rest;
  };
  return { ...decision, location };
}

/** An address with a port: without one, it is not that of a development server. */
const ON_LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):([1-9]\d{0,4})((?:[/?#].*)?)$/i;

/**
 * Development servers accept known hosts only, and compare `Origin` with `Host`. All of them accept `*.localhost`, so
 * there the app sees the real host name. Elsewhere both headers are set to `localhost`: URLs that the app builds from its
 * host are wrong then, but its requests work.
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
