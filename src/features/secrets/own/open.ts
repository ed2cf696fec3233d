import { and, asc, eq, inArray } from "drizzle-orm";
import { ownSecretProjects, ownSecrets } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { ownPurposeOf } from "./row.ts";

/** The secrets that a person lets their sessions in a project have, with their values. */
export async function openOwnSecrets(
  deps: Pick<Deps, "db" | "keys">,
  userId: string,
  projectId: string,
): Promise<Record<string, string>> {
  const rows = await deps.db
    .select({ name: ownSecrets.name, value: ownSecrets.value })
    .from(ownSecrets)
    .innerJoin(
      ownSecretProjects,
      and(eq(ownSecretProjects.userId, ownSecrets.userId), eq(ownSecretProjects.name, ownSecrets.name)),
    )
    .where(and(eq(ownSecrets.userId, userId), eq(ownSecretProjects.projectId, projectId)))
    .orderBy(asc(ownSecrets.name));
  return Object.fromEntries(
    rows.map(({ name, value }) => [name, deps.keys.open(userId, ownPurposeOf(name), value)]),
  );
}

/** Whether a person lets their sessions in a project have one of these secrets. */
export async function hasOwnSecret(
  { db }: Pick<Deps, "db">,
  userId: string,
  projectId: string,
  names: readonly string[],
): Promise<boolean> {
  const { userId: user, projectId: project, name } = ownSecretProjects;
  const is = and(eq(user, userId), eq(project, projectId), inArray(name, [...names]));
  return (await db.$count(ownSecretProjects, is)) > 0;
}
