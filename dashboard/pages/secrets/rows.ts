import type { SecretList } from "../../../src/contract/secret.ts";

/** A secret that is set, that svc.toml declares, or both. */
export interface SecretRow {
  name: string;
  /** How svc.toml declares it; null if it does not. */
  declared: "required" | "optional" | null;
  /** When it was set, and where it is injected; null if it is not set. */
  updatedAt: string | null;
  audience: readonly string[] | null;
  isMissing: boolean;
}

/** Missing secrets first, then by name. */
export function rowsOf({ items, required, optional, missing }: SecretList): SecretRow[] {
  const set = new Map(items.map((item) => [item.name, item]));
  const names = new Set([...required, ...optional, ...set.keys()]);
  const rows = [...names].sort().map((name): SecretRow => {
    const declared = required.includes(name) ? "required" : optional.includes(name) ? "optional" : null;
    const { updated_at: updatedAt = null, for: audience = null } = set.get(name) ?? {};
    return { name, declared, updatedAt, audience, isMissing: missing.includes(name) };
  });
  return [...rows.filter(({ isMissing }) => isMissing), ...rows.filter(({ isMissing }) => !isMissing)];
}
