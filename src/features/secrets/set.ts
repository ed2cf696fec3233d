import { and, eq, sql } from "drizzle-orm";
import { connectorSecrets, projectSecrets } from "../../../db/schema/index.ts";
import { isReservedName, SECRET_NAME } from "../../contract/environment.ts";
import { SvcError } from "../../contract/errors.ts";
import { SECRET_MAX_BYTES } from "../../contract/limits.ts";
import { SECRETS_MAX, type Secret, type SecretValueBody } from "../../contract/secret.ts";
import { AUDIENCE, DEFAULT_AUDIENCE } from "../../contract/secret-audience.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { shorten, storable } from "../../http/text.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { updateSandboxes } from "../../jobs/update-sandboxes.ts";
import { lockProject } from "../projects/lock.ts";
import { allToWire, purposeOf } from "./row.ts";

/**
 * Creates or replaces a secret. Its value is encrypted for this project and name only. Without an audience, an existing
 * secret keeps its own.
 * @throws reserved_name, validation_failed.
 */
export async function setSecret(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  given: SecretValueBody,
): Promise<Secret> {
  requireName(name);
  const plain = storable("value", given.value, SECRET_MAX_BYTES);
  const audience = given.for && readAudience(given.for);
  const value = deps.keys.seal(project.projectId, purposeOf(name), plain);
  const now = deps.clock();
  await requirePerson(deps, caller, project, name);
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, project.projectId);
    const others = sql`${projectSecrets.projectId} = ${project.projectId} and ${projectSecrets.name} <> ${name}`;
    if ((await tx.$count(projectSecrets, others)) >= SECRETS_MAX) {
      throw new SvcError(
        "validation_failed",
        `Cannot set ${name}: the project has ${SECRETS_MAX} secrets, which is the limit. Remove one with: svc secrets unset`,
      );
    }
    const changes = { value, updatedAt: now, setBy: caller.userId, setActor: actorOf(caller) };
    const [row] = await tx
      .insert(projectSecrets)
      .values({
        projectId: project.projectId,
        name,
        audience: audience ?? [...DEFAULT_AUDIENCE],
        ...changes,
        createdAt: now,
      })
      .onConflictDoUpdate({
        target: [projectSecrets.projectId, projectSecrets.name],
        set: { ...changes, ...(audience && { audience }) },
      })
      .returning();
    if (!row) throw new Error("the insert of a secret returned no row");
    await updateSandboxes(deps, tx, [project.projectId]);
    const action = row.createdAt < row.updatedAt ? "changed" : "created";
    const [shown] = await allToWire(tx, [row]);
    const details = { for: row.audience, is_new: action === "created" };
    await audit(tx, caller, { action: "secret.set", target: name, project, details });
    await publish(tx, project.projectId, { type: "secret", id: name, action });
    if (!shown) throw new Error("a secret was left out");
    return shown;
  });
}

/** @throws validation_failed for an invalid entry */
function readAudience(entries: readonly string[]): string[] {
  const bad = entries.find((entry) => !new RegExp(AUDIENCE).test(entry));
  if (bad === undefined) return [...new Set(entries)];
  const message =
    "must be sessions, builds, apps, apps:<slug>, previews, triggers:<slug>, checks or connectors";
  throw new SvcError("validation_failed", `Each entry of for ${message}, not ${JSON.stringify(bad)}.`, {
    details: [{ path: "for", message }],
  });
}

/** Removes a secret. @throws not_found */
export async function unsetSecret(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<{ ok: true }> {
  // such a name was never set, and may hold bytes that the database rejects
  if (!SECRET_NAME.test(name)) throw notFound(name);
  await requirePerson(deps, caller, project, name);
  return await deps.db.transaction(async (tx) => {
    const removed = await tx
      .delete(projectSecrets)
      .where(and(eq(projectSecrets.projectId, project.projectId), eq(projectSecrets.name, name)))
      .returning({ name: projectSecrets.name });
    if (removed.length === 0) throw notFound(name);
    await updateSandboxes(deps, tx, [project.projectId]);
    await audit(tx, caller, { action: "secret.deleted", target: name, project });
    await publish(tx, project.projectId, { type: "secret", id: name, action: "deleted" });
    return { ok: true };
  });
}

/**
 * Requires a user token for the secret of a connector: an agent could otherwise send a project's data to an account of its
 * own at the same service.
 * @throws forbidden
 */
async function requirePerson(
  { db }: Deps,
  caller: Caller,
  { projectId }: ProjectRow,
  name: string,
): Promise<void> {
  if (caller.kind === "user") return;
  const isIt = and(eq(connectorSecrets.projectId, projectId), eq(connectorSecrets.name, name));
  if ((await db.$count(connectorSecrets, isIt)) > 0)
    throw new SvcError("forbidden", `${name} is the secret of a connector. Only a person can change it.`);
}

function notFound(name: string): SvcError {
  return new SvcError(
    "not_found",
    `The project has no secret "${shorten(name)}". List their names with: svc secrets ls`,
  );
}

/** @throws validation_failed, reserved_name */
export function requireName(name: string): void {
  if (!SECRET_NAME.test(name)) {
    const message = "must be 1 to 64 characters of A-Z, 0-9 and _, and must not start with a digit";
    throw new SvcError("validation_failed", `The name of a secret ${message}.`, {
      details: [{ path: "name", message }],
    });
  }
  if (isReservedName(name)) {
    throw new SvcError("reserved_name", `"${name}" is reserved for svc or the sandbox. Choose another name.`);
  }
}
