import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectSessions, tokens } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import { schedulePoll } from "../../features/projects/schedule-poll.ts";
import { recordDeletions } from "../../features/timeline/deletions.ts";
import { recordPushes } from "../../features/timeline/pushes.ts";
import { type By, NOBODY } from "../../features/timeline/record.ts";
import type { ReceiveRequest } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Pusher } from "./pusher.ts";

type Changed = Parameters<NonNullable<ReceiveRequest["changed"]>>[0];

/** The most branches of one push that are published: a larger push copies a repository. */
const PUBLISHED_MAX = 100;
const HEADS = "refs/heads/";

/**
 * Publishes the branches that a push has updated, and records who pushed or deleted them. The push has succeeded by then, so
 * a failure here is only logged.
 */
export async function publishBranches(
  deps: Deps,
  project: ProjectRow,
  pusher: Pusher,
  refs: Changed,
): Promise<void> {
  const { projectId } = project;
  const branches = refs
    .filter(({ ref }) => ref.startsWith(HEADS))
    .slice(0, PUBLISHED_MAX)
    .map(({ ref, ...rest }) => ({ branch: ref.slice(HEADS.length), ...rest }));
  const changes = branches.map(
    ({ branch, kind }): ProjectChange => ({ type: "branch", id: branch, action: kind }),
  );
  const pushed = branches.flatMap(({ branch, to }) => (to === null ? [] : [{ branch, commit: to }]));
  const deleted = branches.flatMap(({ branch, from, to }) =>
    to === null && from !== null ? [{ branch, commit: from }] : [],
  );
  try {
    await deps.db.transaction(async (tx) => {
      const by = await byOf(tx, pusher);
      await recordDeletions(tx, project, { by, at: deps.clock() }, deleted);
      if (changes.length > 0) await schedulePoll(deps, tx, projectId);
      await recordPushes(tx, project, by, pushed);
      await publish(tx, projectId, ...changes);
    });
  } catch (error) {
    deps.log.warn({ project: projectId, err: error }, "cannot publish the branches of a push");
  }
}

/** Who pushes. A session or a token that was deleted meanwhile is nobody. */
async function byOf(tx: Db, { kind, id }: Pusher): Promise<By> {
  if (kind === "user") return { userId: id, actor: null };
  if (kind === "project") {
    const { userId, name } = tokens;
    const [token] = await tx.select({ userId, name }).from(tokens).where(eq(tokens.tokenId, id));
    return token ? { userId: token.userId, actor: { kind: "token", name: token.name } } : NOBODY;
  }
  const [session] = await tx
    .select({ userId: projectSessions.createdBy })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, id));
  return session ? { userId: session.userId, actor: { kind: "agent", sessionId: id } } : NOBODY;
}
