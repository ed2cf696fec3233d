import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { findAtDomain } from "../../features/apps/domains/find.ts";
import { domainOfHost } from "../../features/apps/domains/name.ts";
import { previewSite } from "../../features/apps/site.ts";
import { reachSession } from "../../features/sessions/row.ts";
import { answer, ok } from "../../http/schema.ts";
import { findAppAt } from "./app-admission.ts";
import { readAppHost, readPreviewHost } from "./preview-host.ts";

/** Characters of a domain name (RFC 1035, 3.1). */
const NAME_MAX = 253;

/**
 * `GET /v1/preview-hosts/check?domain=…`: a reverse proxy that gets certificates on demand asks whether a name is that of
 * a session's preview, of an app or of a proven domain of one (Caddy's `ask`). Without it, anybody could have it request certificates for any name.
 * It needs no token: the id in a name is as hard to guess as one.
 */
export const certificateRoutes = (deps: Deps) =>
  new Elysia({ tags: ["sessions"] }).get(
    "/preview-hosts/check",
    async ({ query }) => {
      if (!(await isServed(deps, query.domain)))
        throw new SvcError("not_found", "No session or app has this host name.");
      return { ok: true as const };
    },
    { query: Type.Object({ domain: Type.String({ maxLength: NAME_MAX }) }), ...answer(200, ok) },
  );

async function isServed(deps: Deps, name: string): Promise<boolean> {
  const { host } = previewSite(deps);
  const preview = readPreviewHost(name, host);
  if (preview) return (await reachSession(deps, preview.sessionId)) !== null;
  const label = readAppHost(name, host);
  if (label !== null) return (await findAppAt(deps, label)) !== null;
  const domain = domainOfHost(deps, name);
  return domain !== null && ((await findAtDomain(deps, domain))?.isServed ?? false);
}
