import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { ownSecretProjects, ownSecrets, projects } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { OwnSecret } from "../../../contract/secret.ts";
import { shorten } from "../../../http/text.ts";

/** Binds an encrypted value to the name of the secret. */
export function ownPurposeOf(name: string): string {
  return `secret of a person ${name}`;
}

/** The secrets that a person holds, without their values. @param name only this one */
export async function readOwnSecrets(db: Db, userId: string, name?: string): Promise<OwnSecret[]> {
  const only = name === undefined ? undefined : eq(ownSecrets.name, name);
  const rows = await db
    .select({
      secret: ownSecrets,
      project: { project_id: projects.projectId, name: projects.name, slug: projects.slug },
    })
    .from(ownSecrets)
    .leftJoin(
      ownSecretProjects,
      and(eq(ownSecretProjects.userId, ownSecrets.userId), eq(ownSecretProjects.name, ownSecrets.name)),
    )
    .leftJoin(projects, eq(projects.projectId, ownSecretProjects.projectId))
    .where(and(eq(ownSecrets.userId, userId), only))
    .orderBy(asc(ownSecrets.name), asc(projects.slug));
  const found = new Map<string, OwnSecret>();
  for (const { secret, project } of rows) {
    const known = found.get(secret.name) ?? {
      name: secret.name,
      projects: [],
      created_at: secret.createdAt.toISOString(),
      updated_at: secret.updatedAt.toISOString(),
    };
    if (project) known.projects.push(project);
    found.set(secret.name, known);
  }
  return [...found.values()];
}

/** @throws not_found */
export async function readOwnSecret(db: Db, userId: string, name: string): Promise<OwnSecret> {
  const [secret] = await readOwnSecrets(db, userId, name);
  if (!secret) throw noSuchOwnSecret(name);
  return secret;
}

export function noSuchOwnSecret(name: string): SvcError {
  return new SvcError(
    "not_found",
    `You hold no secret "${shorten(name)}". List the names of yours with: svc secrets ls --mine`,
  );
}
