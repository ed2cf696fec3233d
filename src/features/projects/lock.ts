import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";

/**
 * Locks a project's row until the transaction ends, so that changes of what it may have a limited number of run one after the
 * other, and the limit holds. Rows that refer to the project can be added meanwhile.
 * @throws not_found
 */
export async function lockProject(tx: Db, projectId: string): Promise<void> {
  const [project] = await tx
    .select({ id: projects.projectId })
    .from(projects)
    .where(eq(projects.projectId, projectId))
    .for("no key update");
  if (!project) throw new SvcError("not_found", "The project was deleted while this request ran.");
}
