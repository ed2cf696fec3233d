import { and, arrayOverlaps, asc, eq, inArray, notExists, sql } from "drizzle-orm";
import { projectSecrets, triggers } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { purposeOf } from "./row.ts";

/** Secrets of a project with their values, for one of its sandboxes; and what changes with any of them. */
export interface OpenSecrets {
  values: Readonly<Record<string, string>>;
  /** 16 hex digits. */
  revision: string;
}

/**
 * @param audience what they are opened for; a secret that signs a trigger's webhook is opened for nothing
 * @param names these alone; null: all
 */
export async function openSecrets(
  deps: Pick<Deps, "db" | "keys">,
  projectId: string,
  audience: readonly string[],
  names: readonly string[] | null = null,
): Promise<OpenSecrets> {
  const signs = deps.db
    .select({ one: sql`1` })
    .from(triggers)
    .where(and(eq(triggers.projectId, projectId), eq(triggers.secretEnv, projectSecrets.name)));
  const rows = await deps.db
    .select()
    .from(projectSecrets)
    .where(
      and(
        eq(projectSecrets.projectId, projectId),
        arrayOverlaps(projectSecrets.audience, [...audience]),
        names === null ? undefined : inArray(projectSecrets.name, [...names]),
        notExists(signs),
      ),
    )
    .orderBy(asc(projectSecrets.name));
  const pairs = rows.map(
    ({ name, value }) => [name, deps.keys.open(projectId, purposeOf(name), value)] as const,
  );
  const revision = deps.keys.mac("secrets revision", JSON.stringify([projectId, pairs]));
  return { values: Object.fromEntries(pairs), revision: revision.toString("hex").slice(0, 16) };
}
