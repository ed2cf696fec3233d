import type { Db } from "../../../db/client.ts";
import type { projectSecrets } from "../../../db/schema/index.ts";
import type { Secret } from "../../contract/secret.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";

type SecretRow = typeof projectSecrets.$inferSelect;

/** Binds an encrypted value to the name of the secret. */
export function purposeOf(name: string): string {
  return `secret ${name}`;
}

/** Secrets as they cross the wire: without their values. */
export async function allToWire(db: Db, rows: readonly SecretRow[]): Promise<Secret[]> {
  const names = await namesOf(
    db,
    rows.map(({ setBy }) => setBy),
  );
  return rows.map(({ name, audience, setBy, setActor, createdAt, updatedAt }) => ({
    name,
    for: audience,
    set_by: setBy === null ? null : authorOf(names, setBy, setActor),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  }));
}
