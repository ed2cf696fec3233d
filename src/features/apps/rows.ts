import { and, eq, isNull, ne, or } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ManifestApp } from "../../contract/manifest/manifest.ts";
import type { ProjectChange } from "../../events/publish.ts";
import { shorten } from "../../http/text.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

export type AppRow = typeof apps.$inferSelect;
/** Names an app of a project by its slug, or a preview of an app in a change request. */
export type AppName = string | PreviewName;
export interface PreviewName {
  slug: string;
  crId: string;
  crNumber: number;
}

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

/** One app of a project, or a preview. @throws not_found, also for one that was removed from the manifest */
export async function findAppByName(
  db: Db,
  { projectId }: Pick<ProjectRow, "projectId">,
  name: AppName,
): Promise<AppRow> {
  const preview = typeof name === "string" ? null : name;
  const slug = typeof name === "string" ? name : name.slug;
  const isIt = and(
    eq(apps.projectId, projectId),
    eq(apps.slug, slug),
    ne(apps.presence, "gone"),
    preview ? eq(apps.crId, preview.crId) : isNull(apps.crId),
  );
  // Postgres rejects NUL
  const [app] = slug.includes("\0") ? [] : await db.select().from(apps).where(isIt);
  if (app) return app;
  if (preview)
    throw new SvcError(
      "not_found",
      `Change request #${preview.crNumber} has no preview of an app "${shorten(slug)}". List its previews with: svc cr apps ${preview.crNumber}`,
    );
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

/** The event for an app or a preview. */
export function appChange(
  { slug, crNumber }: Pick<AppRow, "slug" | "crNumber">,
  action: ProjectChange["action"] = "changed",
): ProjectChange {
  return { type: "app", id: slug, ...(crNumber !== null && { number: crNumber }), action };
}

/** The command that deploys an app or a preview again. */
export function deployCommand({ slug, crNumber }: Pick<AppRow, "slug" | "crNumber">): string {
  return crNumber === null ? `svc apps deploy ${slug}` : `svc cr apps ${crNumber} ${slug} --deploy`;
}

/** The command that prints the log of an app or a preview. */
export function logCommand({ slug, crNumber }: Pick<AppRow, "slug" | "crNumber">): string {
  return crNumber === null ? `svc apps logs ${slug}` : `svc cr apps ${crNumber} ${slug} --logs`;
}

/** Whether a deployment has a sandbox: a site of files in the repository has none. */
export function hasSandbox({ run, build }: ManifestApp): boolean {
  return run !== null || build !== null;
}
