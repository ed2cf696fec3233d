import { and, eq } from "drizzle-orm";
import { appDeployments, apps, changeRequests, volumes } from "../../../db/schema/index.ts";
import type { DaemonApp } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import type { VolumeMount } from "../../sandboxes/provider.ts";
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
  /** Null: it has no volume. */
  volume: VolumeMount | null;
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
      volumeId: volumes.volumeId,
    })
    .from(appDeployments)
    .innerJoin(apps, eq(apps.appId, appDeployments.appId))
    .leftJoin(changeRequests, eq(changeRequests.crId, apps.crId))
    .leftJoin(volumes, and(eq(volumes.appId, apps.appId), eq(volumes.runId, runId)))
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
    run: run && { command: run.command, port: run.port },
    healthPath: health?.path ?? null,
    output,
    env,
    buildSecrets,
  };
  const path = run?.volume ?? null;
  if (path !== null && row.volumeId === null) throw new Error("the volume is another deployment's");
  const volume = path === null || row.volumeId === null ? null : { id: row.volumeId, path };
  return { app, branch: row.headRef, audience: isPreview ? PREVIEWS : ["apps", `apps:${slug}`], volume };
}
