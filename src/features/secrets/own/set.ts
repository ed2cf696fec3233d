import { and, eq, ne } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { ownSecretProjects, ownSecrets, users } from "../../../../db/schema/index.ts";
import { SECRET_NAME } from "../../../contract/environment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { SECRET_MAX_BYTES } from "../../../contract/limits.ts";
import { type OwnSecret, SECRETS_MAX } from "../../../contract/secret.ts";
import type { Deps } from "../../../deps.ts";
import { storable } from "../../../http/text.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller } from "../../../identity/auth/caller.ts";
import { updateSandboxes } from "../../../jobs/update-sandboxes.ts";
import { requireName } from "../set.ts";
import { noSuchOwnSecret, ownPurposeOf, readOwnSecret } from "./row.ts";

/**
 * Creates or replaces a secret of the caller. Its value is encrypted for this person and name only. No project gets a new
 * one until it is allowed to.
 * @throws reserved_name, validation_failed
 */
export async function setOwnSecret(
  deps: Deps,
  caller: Caller,
  name: string,
  given: { value: string },
): Promise<OwnSecret> {
  const { userId } = caller;
  requireName(name);
  const plain = storable("value", given.value, SECRET_MAX_BYTES);
  const value = deps.keys.seal(userId, ownPurposeOf(name), plain);
  const updatedAt = deps.clock();
  return await deps.db.transaction(async (tx) => {
    await lockHolder(tx, userId);
    const others = and(eq(ownSecrets.userId, userId), ne(ownSecrets.name, name));
    if ((await tx.$count(ownSecrets, others)) >= SECRETS_MAX)
      throw new SvcError(
        "validation_failed",
        `Cannot set ${name}: you hold ${SECRETS_MAX} secrets, which is the limit. Remove one with: svc secrets unset --mine`,
      );
    await tx
      .insert(ownSecrets)
      .values({ userId, name, value, createdAt: updatedAt, updatedAt })
      .onConflictDoUpdate({ target: [ownSecrets.userId, ownSecrets.name], set: { value, updatedAt } });
    await updateSandboxes(deps, tx, await projectsWith(tx, userId, name));
    await audit(tx, caller, { action: "own_secret.set", target: name });
    return await readOwnSecret(tx, userId, name);
  });
}

/** Removes a secret of the caller, also from running sandboxes. @throws not_found */
export async function unsetOwnSecret(deps: Deps, caller: Caller, name: string): Promise<{ ok: true }> {
  const { userId } = caller;
  // such a name was never set, and may hold bytes that the database rejects
  if (!SECRET_NAME.test(name)) throw noSuchOwnSecret(name);
  return await deps.db.transaction(async (tx) => {
    await lockHolder(tx, userId);
    const projectIds = await projectsWith(tx, userId, name);
    const removed = await tx
      .delete(ownSecrets)
      .where(and(eq(ownSecrets.userId, userId), eq(ownSecrets.name, name)))
      .returning({ name: ownSecrets.name });
    if (removed.length === 0) throw noSuchOwnSecret(name);
    await updateSandboxes(deps, tx, projectIds);
    await audit(tx, caller, { action: "own_secret.deleted", target: name });
    return { ok: true };
  });
}

/** Locks the person's row, so that changes of what they may have a limited number of run one after the other. */
export async function lockHolder(tx: Db, userId: string): Promise<void> {
  await tx.select({ id: users.userId }).from(users).where(eq(users.userId, userId)).for("no key update");
}

async function projectsWith(tx: Db, userId: string, name: string): Promise<string[]> {
  const rows = await tx
    .select({ projectId: ownSecretProjects.projectId })
    .from(ownSecretProjects)
    .where(and(eq(ownSecretProjects.userId, userId), eq(ownSecretProjects.name, name)));
  return rows.map(({ projectId }) => projectId);
}
