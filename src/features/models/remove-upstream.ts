import { modelUpstreams } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { UPSTREAM_ID } from "../../contract/model-upstream.ts";
import type { Deps } from "../../deps.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { isUpstream } from "./list-upstreams.ts";
import { upstreamEntry } from "./set-upstream.ts";

/** Removes a stored upstream of a project, or of the server, with its key. @throws not_found */
export async function removeUpstream(
  { db }: Pick<Deps, "db">,
  caller: Caller,
  project: ProjectRow | null,
  upstreamId: string,
): Promise<{ ok: true }> {
  // others cannot be stored, and Postgres refuses one with NUL
  if (!new RegExp(UPSTREAM_ID).test(upstreamId)) throw noSuchUpstream(project);
  return await db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(modelUpstreams)
      .where(isUpstream(project?.projectId ?? null, upstreamId))
      .returning({ id: modelUpstreams.upstreamId });
    if (!gone) throw noSuchUpstream(project);
    await audit(tx, caller, upstreamEntry("model_upstream.removed", project, upstreamId));
    return { ok: true };
  });
}

function noSuchUpstream(project: ProjectRow | null): SvcError {
  return new SvcError(
    "not_found",
    project === null
      ? "The database has no such upstream of the server. List them with: svc models ls --server"
      : "The project has no such upstream of its own. List its upstreams with: svc models ls",
  );
}
