import { asc, eq } from "drizzle-orm";
import { projectSecrets } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { SecretList } from "../../contract/secret.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestOf } from "../projects/policy.ts";
import { allToWire } from "./row.ts";

/** The project's secrets without their values, and those that its manifest names. Their number is limited, so there is one page. */
export async function listSecrets(deps: Deps, project: ProjectRow): Promise<SecretList> {
  const [rows, { required, optional }] = await Promise.all([
    rowsOf(deps, project),
    declaredOf(deps, project),
  ]);
  const names = new Set(rows.map(({ name }) => name));
  return {
    items: await allToWire(deps.db, rows),
    required,
    optional,
    missing: required.filter((name) => !names.has(name)),
  };
}

async function rowsOf(deps: Deps, project: ProjectRow) {
  return await deps.db
    .select()
    .from(projectSecrets)
    .where(eq(projectSecrets.projectId, project.projectId))
    .orderBy(asc(projectSecrets.name));
}

/** Empty if the repository does not respond, so that secrets can be listed and set anyway. */
async function declaredOf(
  deps: Deps,
  project: ProjectRow,
): Promise<{ required: string[]; optional: string[] }> {
  try {
    const manifest = await readManifestOf(deps, project);
    return manifest?.env ?? { required: [], optional: [] };
  } catch (error) {
    if (error instanceof SvcError) return { required: [], optional: [] };
    throw error;
  }
}
