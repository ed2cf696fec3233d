import type { SecretList } from "../../../src/contract/secret.ts";

/** A name that is set, that svc.toml asks for, or both. */
export interface SecretRow {
  name: string;
  /** How svc.toml asks for it; null: it does not. */
  asked: "required" | "optional" | null;
  /** When it was set; null: it is not. */
  updatedAt: string | null;
  isMissing: boolean;
}

/** What is missing comes first, the rest by name. */
export function rowsOf({ items, required, optional, missing }: SecretList): SecretRow[] {
  const setAt = new Map(items.map(({ name, updated_at }) => [name, updated_at]));
  const names = new Set([...required, ...optional, ...setAt.keys()]);
  const rows = [...names].sort().map((name): SecretRow => {
    const asked = required.includes(name) ? "required" : optional.includes(name) ? "optional" : null;
    return { name, asked, updatedAt: setAt.get(name) ?? null, isMissing: missing.includes(name) };
  });
  return [...rows.filter(({ isMissing }) => isMissing), ...rows.filter(({ isMissing }) => !isMissing)];
}
