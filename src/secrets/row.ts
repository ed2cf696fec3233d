import type { projectSecrets } from "../../db/schema/index.ts";
import type { Secret } from "../contract/secret.ts";

type SecretRow = typeof projectSecrets.$inferSelect;

/** What a sealed value is bound to beside its project. */
export function purposeOf(name: string): string {
  return `secret ${name}`;
}

/** A secret as it crosses the wire: without its value. */
export function toWire({ name, createdAt, updatedAt }: SecretRow): Secret {
  return { name, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
