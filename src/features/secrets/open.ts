import { and, arrayOverlaps, asc, eq, inArray, notExists, sql } from "drizzle-orm";
import { connectorSecrets, projectSecrets, triggers } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { purposeOf } from "./row.ts";

/** Secrets with their values, for a sandbox of a project. */
export interface OpenSecrets {
  values: Readonly<Record<string, string>>;
  /** 16 hex digits that change when a secret changes. */
  revision: string;
}

/**
 * Decrypts the secrets for a sandbox, except those that sign the webhook of a trigger, and those of connectors.
 * @param audience where they are injected
 * @param names only these; null: all
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
  const isConnectors = deps.db
    .select({ one: sql`1` })
    .from(connectorSecrets)
    .where(and(eq(connectorSecrets.projectId, projectId), eq(connectorSecrets.name, projectSecrets.name)));
  const rows = await deps.db
    .select()
    .from(projectSecrets)
    .where(
      and(
        eq(projectSecrets.projectId, projectId),
        arrayOverlaps(projectSecrets.audience, [...audience]),
        names === null ? undefined : inArray(projectSecrets.name, [...names]),
        notExists(signs),
        notExists(isConnectors),
      ),
    )
    .orderBy(asc(projectSecrets.name));
  const pairs = rows.map(
    ({ name, value }) => [name, deps.keys.open(projectId, purposeOf(name), value)] as const,
  );
  return openSecretsOf(deps, projectId, Object.fromEntries(pairs));
}

/** Values with their revision. */
export function openSecretsOf(
  { keys }: Pick<Deps, "keys">,
  projectId: string,
  values: Readonly<Record<string, string>>,
): OpenSecrets {
  const revision = keys.mac("secrets revision", JSON.stringify([projectId, Object.entries(values)]));
  return { values, revision: revision.toString("hex").slice(0, 16) };
}
