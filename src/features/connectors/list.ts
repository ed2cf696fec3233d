import { eq } from "drizzle-orm";
import { projectSecrets } from "../../../db/schema/index.ts";
import type { Connector } from "../../contract/connector.ts";
import { OAUTH } from "../../contract/manifest/kinds.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type GrantRow, grantsOf } from "./oauth/grant.ts";
import { connectorsOf } from "./row.ts";

/** The connectors of a project's default branch, in the order of the file. Their number is limited, so there is one page. */
export async function listConnectors(deps: Deps, project: ProjectRow): Promise<{ connectors: Connector[] }> {
  const [rows, secrets] = await Promise.all([
    connectorsOf(deps.db, project),
    deps.db
      .select({ name: projectSecrets.name })
      .from(projectSecrets)
      .where(eq(projectSecrets.projectId, project.projectId)),
  ]);
  const set = new Set(secrets.map(({ name }) => name));
  const grants = await grantsOf(deps.db, rows);
  const names = await namesOf(
    deps.db,
    [...grants.values()].map(({ connectedBy }) => connectedBy),
  );
  const connectors = rows.map(({ slug, type, url, spec, auth, authHeader, policies }) => ({
    slug,
    type,
    url,
    spec,
    auth,
    auth_header: authHeader,
    secret_missing: auth === OAUTH ? !grants.has(slug) : auth !== null && !set.has(auth),
    connected_by: authorOfGrant(grants.get(slug)),
    connected_at: grants.get(slug)?.connectedAt.toISOString() ?? null,
    policies,
  }));
  return { connectors };

  function authorOfGrant(grant: GrantRow | undefined) {
    return grant?.connectedBy ? authorOf(names, grant.connectedBy, null) : null;
  }
}
