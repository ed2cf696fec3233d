import { and, eq, gt, lt } from "drizzle-orm";
import { previewLinks } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NO_PREVIEW, PREVIEW_PORT, type Preview } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { requireAgentReach } from "../../features/sessions/agent-reach.ts";
import { findSession } from "../../features/sessions/read.ts";
import { newBrowserLink, refuseMoreLinks, type Visitor } from "../../identity/auth/browser-link.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { type PreviewPlace, previewOrigin } from "./preview-host.ts";

/**
 * Makes a link that signs one browser in to a port of a session's sandbox.
 * @throws not_found, validation_failed, forbidden for svc's own ports, rate_limited
 */
export async function makePreviewLink(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  sessionName: string,
  port = PREVIEW_PORT,
): Promise<Preview> {
  const { session } = await findSession(deps, project, sessionName);
  await requireAgentReach(deps, caller, project, session);
  if (NO_PREVIEW.includes(port)) throw reservedPort(port);
  const { sessionId } = session;
  await deps.db.delete(previewLinks).where(lt(previewLinks.expiresAt, deps.clock()));
  refuseMoreLinks(await deps.db.$count(previewLinks, eq(previewLinks.sessionId, sessionId)), "The session");
  const { token, kept } = newBrowserLink(deps, caller);
  await deps.db.insert(previewLinks).values({ ...kept, sessionId, port });
  const url = `${previewOrigin(deps, { sessionId, port })}/?token=${token}`;
  return { url, expires_at: kept.expiresAt.toISOString() };
}

/** The error for a port that svc uses itself. */
export function reservedPort(port: number): SvcError {
  return new SvcError("forbidden", `Port ${port} is reserved for svc, and has no preview.`);
}

/**
 * Redeems a link's token, once across all servers on the database.
 * @returns null when it was used, has expired, or belongs to another preview
 */
export async function redeemPreviewLink(
  deps: Pick<Deps, "db" | "keys" | "clock">,
  token: string,
  { sessionId, port }: PreviewPlace,
): Promise<Visitor | null> {
  const [used] = await deps.db
    .delete(previewLinks)
    .where(
      and(
        eq(previewLinks.hash, deps.keys.hashToken(token)),
        eq(previewLinks.sessionId, sessionId),
        eq(previewLinks.port, port),
        gt(previewLinks.expiresAt, deps.clock()),
      ),
    )
    .returning({ userId: previewLinks.userId, role: previewLinks.role });
  return used ?? null;
}
