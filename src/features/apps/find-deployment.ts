import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { AppRow, DeploymentRow } from "./rows.ts";

/** A deployment of an app by its number. @throws not_found */
export async function findDeployment(
  db: Db,
  { appId, slug }: Pick<AppRow, "appId" | "slug">,
  number: number,
): Promise<DeploymentRow> {
  const [row] = await db
    .select()
    .from(appDeployments)
    .where(and(eq(appDeployments.appId, appId), eq(appDeployments.number, number)));
  if (row) return row;
  throw new SvcError(
    "not_found",
    `Deployment ${number} of the app ${slug} not found: it does not exist, or is no longer kept. List them with: svc apps history ${slug}`,
  );
}
