import type { SecretList } from "../../../src/contract/secret.ts";

/** A name that is set, that svc.toml asks for, or both. */
export interface SecretRow {
  name: string;
  /** How svc.toml asks for it; null: it does not. */
  asked: "required" | "optional" | null;
  /** When it was set, and where it is injected; null: it is not set. */
  updatedAt: string | null;
  audience: readonly string[] | null;
  isMissing: boolean;
}

/** What is missing comes first, the rest by name. */
export function rowsOf({ items, required, optional, missing }: SecretList): SecretRow[] {
  const set = new Map(items.map((item) => [item.name, item]));
  const names = new Set([...required, ...optional, ...set.keys()]);
  const rows = [...names].sort().map((name): SecretRow => {
    const asked = required.includes(name) ? "required" : optional.includes(name) ? "optional" : null;
    const { updated_at: updatedAt = null, for: audience = null } = set.get(name) ?? {};
    return { name, asked, updatedAt, audience, isMissing: missing.includes(name) };
  });
  return [...rows.filter(({ isMissing }) => isMissing), ...rows.filter(({ isMissing }) => !isMissing)];
}
