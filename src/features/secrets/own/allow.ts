import { and, eq, ne } from "drizzle-orm";
import { isForeignKeyViolation } from "../../../../db/errors.ts";
import { ownSecretProjects } from "../../../../db/schema/index.ts";
import { SECRET_NAME } from "../../../contract/environment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { type OwnSecret, SECRET_PROJECTS_MAX } from "../../../contract/secret.ts";
import type { Deps } from "../../../deps.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { updateSandboxes } from "../../../jobs/update-sandboxes.ts";
import { noSuchOwnSecret, readOwnSecret } from "./row.ts";
import { lockHolder } from "./set.ts";

/**
 * Lets the sessions that the caller starts in a project have one of the caller's secrets. It ends with the membership.
 * @throws not_found, validation_failed
 */
export async function allowOwnSecret(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<OwnSecret> {
  const { userId } = caller;
  const { projectId, accountId, slug } = project;
  if (!SECRET_NAME.test(name)) throw noSuchOwnSecret(name);
  try {
    return await deps.db.transaction(async (tx) => {
      await lockHolder(tx, userId);
      await readOwnSecret(tx, userId, name);
      const { projectId: id, ...of } = ownSecretProjects;
      const others = and(eq(of.userId, userId), eq(of.name, name), ne(id, projectId));
      if ((await tx.$count(ownSecretProjects, others)) >= SECRET_PROJECTS_MAX)
        throw new SvcError(
          "validation_failed",
          `Cannot give ${name} to ${slug}: ${SECRET_PROJECTS_MAX} projects have it, which is the limit. Take it from one with: svc secrets unset --mine ${name} --project <slug>`,
        );
      await tx.insert(ownSecretProjects).values({ userId, name, projectId, accountId }).onConflictDoNothing();
      await updateSandboxes(deps, tx, [projectId]);
      await audit(tx, caller, { action: "own_secret.allowed", target: name, project });
      return await readOwnSecret(tx, userId, name);
    });
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    throw new SvcError(
      "not_found",
      "The project was deleted, or you are no longer a member of its account. List yours with: svc projects ls",
    );
  }
}

/** Takes a secret of the caller from their sessions in a project, also from running ones. @throws not_found */
export async function denyOwnSecret(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<OwnSecret> {
  const { userId } = caller;
  const { projectId, slug } = project;
  if (!SECRET_NAME.test(name)) throw noSuchOwnSecret(name);
  return await deps.db.transaction(async (tx) => {
    await lockHolder(tx, userId);
    const of = ownSecretProjects;
    const removed = await tx
      .delete(of)
      .where(and(eq(of.userId, userId), eq(of.name, name), eq(of.projectId, projectId)))
      .returning({ name: of.name });
    const left = await readOwnSecret(tx, userId, name);
    if (removed.length === 0)
      throw new SvcError(
        "not_found",
        `The project ${slug} does not get ${name}. See which do with: svc secrets ls --mine`,
      );
    await updateSandboxes(deps, tx, [projectId]);
    await audit(tx, caller, { action: "own_secret.denied", target: name, project });
    return left;
  });
}
