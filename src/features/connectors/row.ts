import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { connectors } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { shorten } from "../../http/text.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

export type ConnectorRow = typeof connectors.$inferSelect;

type OfProject = Pick<ProjectRow, "projectId">;

/** The connectors of a project, in the order of the file. */
export async function connectorsOf(db: Db, { projectId }: OfProject): Promise<ConnectorRow[]> {
  return await db
    .select()
    .from(connectors)
    .where(eq(connectors.projectId, projectId))
    .orderBy(asc(connectors.position));
}

/** One connector of a project, or null. */
export async function lookUpConnector(
  db: Db,
  { projectId }: OfProject,
  slug: string,
): Promise<ConnectorRow | null> {
  const isIt = and(eq(connectors.projectId, projectId), eq(connectors.slug, slug));
  const [row] = await db.select().from(connectors).where(isIt);
  return row ?? null;
}

/** Other texts may hold bytes that the database rejects. */
export const SLUG = /^[a-z0-9-]{1,24}$/;

/** One connector of a project. @throws not_found */
export async function findConnector(db: Db, project: OfProject, slug: string): Promise<ConnectorRow> {
  const row = SLUG.test(slug) ? await lookUpConnector(db, project, slug) : null;
  if (row) return row;
  throw new SvcError(
    "not_found",
    `The default branch has no connector "${shorten(slug)}". List its connectors with: svc connectors ls`,
  );
}
