import { and, eq, ne, or } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ManifestApp } from "../../contract/manifest/manifest.ts";
import { shorten } from "../../http/text.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

export type AppRow = typeof apps.$inferSelect;
export type DeploymentRow = typeof appDeployments.$inferSelect;

/** An app with its project, by its own id or that of one of its deployments; null when it does not exist. */
export async function findApp(db: Db, id: string): Promise<{ app: AppRow; project: ProjectRow } | null> {
  const ofDeployment = db
    .select({ appId: appDeployments.appId })
    .from(appDeployments)
    .where(eq(appDeployments.deploymentId, id));
  const [row] = await db
    .select({ app: apps, project: projects })
    .from(apps)
    .innerJoin(projects, eq(projects.projectId, apps.projectId))
    .where(or(eq(apps.appId, id), eq(apps.appId, ofDeployment)));
  return row ?? null;
}

/** One app of a project. @throws not_found, also for one that was removed from the manifest */
export async function findAppBySlug(
  db: Db,
  { projectId }: Pick<ProjectRow, "projectId">,
  slug: string,
): Promise<AppRow> {
  const isIt = and(eq(apps.projectId, projectId), eq(apps.slug, slug), ne(apps.presence, "gone"));
  // Postgres rejects NUL
  const [app] = slug.includes("\0") ? [] : await db.select().from(apps).where(isIt);
  if (app) return app;
  throw new SvcError(
    "not_found",
    `App "${shorten(slug)}" not found in this project. List apps with: svc apps ls`,
  );
}

/** An app's row, locked until the transaction ends; null when it does not exist. */
export async function lockApp(tx: Db, appId: string): Promise<AppRow | null> {
  const [app] = await tx.select().from(apps).where(eq(apps.appId, appId)).for("update");
  return app ?? null;
}

/** Whether a deployment has a sandbox: a site of files in the repository has none. */
export function hasSandbox({ run, build }: ManifestApp): boolean {
  return run !== null || build !== null;
}
