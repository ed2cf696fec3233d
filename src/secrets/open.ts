import { asc, eq } from "drizzle-orm";
import { projectSecrets } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import { purposeOf } from "./row.ts";

/** A project's secrets with their values, for its sandboxes and for nobody else; and what changes with any of them. */
export interface OpenSecrets {
  values: Readonly<Record<string, string>>;
  /** 16 hex digits. */
  revision: string;
}

export async function openSecrets(deps: Pick<Deps, "db" | "keys">, projectId: string): Promise<OpenSecrets> {
  const rows = await deps.db
    .select()
    .from(projectSecrets)
    .where(eq(projectSecrets.projectId, projectId))
    .orderBy(asc(projectSecrets.name));
  const pairs = rows.map(
    ({ name, value }) => [name, deps.keys.open(projectId, purposeOf(name), value)] as const,
  );
  const revision = deps.keys.mac("secrets revision", JSON.stringify([projectId, pairs]));
  return { values: Object.fromEntries(pairs), revision: revision.toString("hex").slice(0, 16) };
}
