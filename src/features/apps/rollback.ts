import { and, desc, eq, isNotNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments } from "../../../db/schema/index.ts";
import type { App } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { startDeployment } from "./deploy.ts";
import { findDeployment } from "./find-deployment.ts";
import { findFolder } from "./folder.ts";
import { type AppRow, type DeploymentRow, findAppByName } from "./rows.ts";

/**
 * Deploys the commit and the entry of an earlier deployment again, with today's secrets. From then on commits do not
 * deploy the app, which would undo the rollback, until it is deployed on demand.
 * @param number of the deployment; null for the last one that was live before
 * @throws not_found, app_disabled, nothing_to_roll_back, repo_unreachable
 */
export async function rollBackApp(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  number: number | null,
): Promise<App> {
  const app = await findAppByName(deps.db, project, slug);
  const target = await targetOf(deps.db, app, number);
  const found = await findFolder(deps, project, target.commit, target.entry.rootPath);
  if (found === "no-commit") {
    const sentence = `Cannot roll back to deployment ${target.number}: its commit ${target.commit.slice(0, 12)} is no longer in the repository.`;
    throw new SvcError("nothing_to_roll_back", sentence);
  }
  const tree = found === "no-folder" ? null : found.id;
  const wanted = { tree, reason: "rollback", by: caller, again: target } as const;
  return await startDeployment(deps, caller, project, app, true, async () => wanted);
}

async function targetOf(db: Db, app: AppRow, number: number | null): Promise<DeploymentRow> {
  if (number === null) return await lastBefore(db, app);
  const target = await findDeployment(db, app, number);
  if (target.liveAt !== null) return target;
  const sentence = `Deployment ${number} of the app ${app.slug} was never live. List those that were with: svc apps history ${app.slug}`;
  throw new SvcError("nothing_to_roll_back", sentence);
}

/** The last deployment of other content that was live before the one that is, or that this one rolled back to. */
async function lastBefore(db: Db, { appId, slug, liveId }: AppRow): Promise<DeploymentRow> {
  const wasLive = and(eq(appDeployments.appId, appId), isNotNull(appDeployments.liveAt));
  const rows = await db.select().from(appDeployments).where(wasLive).orderBy(desc(appDeployments.number));
  const live = rows.find(({ deploymentId }) => deploymentId === liveId) ?? rows[0];
  const before = rows.find(
    ({ number, commit, entryHash }) =>
      live !== undefined &&
      number < (live.rollbackTo ?? live.number) &&
      (commit !== live.commit || entryHash !== live.entryHash),
  );
  if (before) return before;
  throw new SvcError(
    "nothing_to_roll_back",
    `No earlier deployment of the app ${slug} was live. List its deployments with: svc apps history ${slug}`,
  );
}
