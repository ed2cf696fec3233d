import { eq } from "drizzle-orm";
import { apps } from "../../../../db/schema/index.ts";
import type { App } from "../../../contract/app.ts";
import type { Deps } from "../../../deps.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { getChangeRequest } from "../../change-requests/read.ts";
import { treeOf } from "../auto-deploy.ts";
import { isDeployedSince, startDeployment } from "../deploy.ts";
import { findAppByName } from "../rows.ts";
import { findPreview } from "./find.ts";
import { prepare } from "./prepare.ts";
import { hasRoom, makeRoom } from "./room.ts";

/**
 * Deploys a preview again from the head of its change request as it is in the repository now, also one that made room for
 * another. Without room it waits, like a new one.
 * @throws not_found, not_open, repo_unreachable
 */
export async function deployPreview(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: string,
  slug: string,
): Promise<App> {
  const begunAt = deps.clock();
  const { change_request: now } = await getChangeRequest(deps, project, cr);
  if (now.head_commit_sha !== null)
    await prepare(deps, project, { crId: now.cr_id, number: now.number, sha: now.head_commit_sha });
  const name = await findPreview(deps.db, project, cr, slug);
  const app = await findAppByName(deps.db, project, name);
  const tree = await treeOf(deps, project, app);
  await makeRoom(deps, app);
  return await startDeployment(deps, caller, project, app, false, async (tx, row) => {
    if (await isDeployedSince(tx, row, begunAt)) return null;
    if (await hasRoom(deps, tx, row)) return { tree, reason: "asked", by: caller };
    await tx.update(apps).set({ consideredCommit: null }).where(eq(apps.appId, row.appId));
    return null;
  });
}
