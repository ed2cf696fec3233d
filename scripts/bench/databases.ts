import { startPostgres } from "./postgres.ts";
import type { Workbench } from "./workbench.ts";

export const DATABASES = ["Postgres", "embedded database"] as const;
export type Database = (typeof DATABASES)[number];

/**
 * Makes an empty database of a kind.
 * @returns the environment by which a server uses it; null, said out loud, when this machine has none.
 */
export async function emptyDatabase(
  bench: Workbench,
  kind: Database,
  what: string,
): Promise<Record<string, string> | null> {
  if (kind === "embedded database") return { DATABASE_URL: "" };
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) {
    bench.report.skip(`${what}, ${kind}`, postgres.missing);
    return null;
  }
  return { DATABASE_URL: await postgres.createDatabase() };
}

/** For a server that is told of none: the embedded one; in a smoke run Postgres, which costs a fifth of the processor. */
export async function usualDatabase(bench: Workbench): Promise<Record<string, string>> {
  if (!bench.report.smoke) return {};
  const postgres = await startPostgres(bench);
  return "missing" in postgres ? {} : { DATABASE_URL: await postgres.createDatabase() };
}
