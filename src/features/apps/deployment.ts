import { eq } from "drizzle-orm";
import { appDeployments, apps, changeRequests } from "../../../db/schema/index.ts";
import type { DaemonApp } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import type { RunRow } from "../runs/row.ts";
import { openSecrets } from "../secrets/open.ts";

/** The audience of the secrets of previews, and of their builds. */
const PREVIEWS = ["previews"];

/** What the sandbox of a deployment builds and runs. */
interface Deployed {
  app: DaemonApp;
  /** Of a preview: the branch that has its commit; null: the default branch. */
  branch: string | null;
  /** Of the secrets that the program gets. */
  audience: readonly string[];
}

/** @throws when the deployment is deleted */
export async function readDeployment(
  deps: Pick<Deps, "db" | "keys">,
  { runId, projectId }: Pick<RunRow, "runId" | "projectId">,
): Promise<Deployed> {
  const [row] = await deps.db
    .select({
      commit: appDeployments.commit,
      entry: appDeployments.entry,
      crId: apps.crId,
      headRef: changeRequests.headRef,
    })
    .from(appDeployments)
    .innerJoin(apps, eq(apps.appId, appDeployments.appId))
    .leftJoin(changeRequests, eq(changeRequests.crId, apps.crId))
    .where(eq(appDeployments.deploymentId, runId));
  if (!row) throw new Error("the deployment is deleted");
  const { slug, rootPath, build, run, health, env } = row.entry;
  const isPreview = row.crId !== null;
  // the head of a change request has not been reviewed: its commands get only what is meant for them
  const { values: buildSecrets } = await openSecrets(deps, projectId, isPreview ? PREVIEWS : ["builds"]);
  const output = row.entry.static?.dir ?? null;
  const app = {
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
  return { app, branch: row.headRef, audience: isPreview ? PREVIEWS : ["apps", `apps:${slug}`] };
}
