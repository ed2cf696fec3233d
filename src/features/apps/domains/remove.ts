import { and, eq, inArray } from "drizzle-orm";
import { appDomains, apps } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { shorten } from "../../../http/text.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { announce } from "./check.ts";
import { noDomain } from "./list.ts";
import { readDomain } from "./name.ts";

/** Removes a domain of an app, also of one that the manifest does not have any more. @throws not_found, validation_failed */
export async function removeDomain(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  text: string,
): Promise<{ ok: true }> {
  const { projectId } = project;
  const domain = readDomain(deps, text);
  await deps.db.transaction(async (tx) => {
    const ofApp = tx
      .select({ appId: apps.appId })
      .from(apps)
      .where(and(eq(apps.projectId, projectId), eq(apps.slug, slug)));
    // Postgres rejects NUL
    const [removed] = slug.includes("\0")
      ? []
      : await tx
          .delete(appDomains)
          .where(and(eq(appDomains.domain, domain), inArray(appDomains.appId, ofApp)))
          .returning();
    if (!removed) throw noDomain(shorten(slug), domain);
    await audit(tx, caller, { action: "domain.removed", target: domain, project, details: { app: slug } });
    await announce(tx, removed);
  });
  return { ok: true };
}
