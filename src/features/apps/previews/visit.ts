import { eq } from "drizzle-orm";
import { apps } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import type { AppRow } from "../rows.ts";

/** A visit is recorded when the last one is older. */
const PRECISION_MS = 60_000;

/** Records that somebody uses a preview, so that it is not stopped to make room for another one. */
export async function recordVisit(
  { db, clock }: Pick<Deps, "db" | "clock">,
  { appId, crId, visitedAt }: AppRow,
): Promise<void> {
  const now = clock();
  if (crId === null || (visitedAt !== null && now.getTime() - visitedAt.getTime() < PRECISION_MS)) return;
  await db.update(apps).set({ visitedAt: now }).where(eq(apps.appId, appId));
}
