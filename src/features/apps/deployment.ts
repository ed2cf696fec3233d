import { eq } from "drizzle-orm";
import { appDeployments } from "../../../db/schema/index.ts";
import type { DaemonApp } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import type { RunRow } from "../runs/row.ts";
import { openSecrets } from "../secrets/open.ts";

/** The app that the sandbox of a deployment builds and runs. @throws when the deployment is deleted */
export async function readDeployment(
  deps: Pick<Deps, "db" | "keys">,
  { runId, projectId }: Pick<RunRow, "runId" | "projectId">,
): Promise<DaemonApp> {
  const [row] = await deps.db
    .select({ commit: appDeployments.commit, entry: appDeployments.entry })
    .from(appDeployments)
    .where(eq(appDeployments.deploymentId, runId));
  if (!row) throw new Error("the deployment is deleted");
  const { slug, rootPath, build, run, health, env } = row.entry;
  const { values: buildSecrets } = await openSecrets(deps, projectId, ["builds"]);
  const output = row.entry.static?.dir ?? null;
  return {
    slug,
    commit: row.commit,
    rootPath,
    build,
    run,
    healthPath: health?.path ?? null,
    output,
    env,
    buildSecrets,
  };
}
