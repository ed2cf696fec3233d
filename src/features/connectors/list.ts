import { eq } from "drizzle-orm";
import { projectSecrets } from "../../../db/schema/index.ts";
import type { Connector } from "../../contract/connector.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
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
  const connectors = rows.map(({ slug, type, url, spec, auth, authHeader, policies }) => ({
    slug,
    type,
    url,
    spec,
    auth,
    auth_header: authHeader,
    secret_missing: auth !== null && !set.has(auth),
    policies,
  }));
  return { connectors };
}
