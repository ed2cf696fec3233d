import { startPostgres } from "./postgres.ts";
import type { Workbench } from "./workbench.ts";

/** The default database: the embedded one; in a smoke run Postgres, which uses a fifth of the processor time. */
export async function defaultDatabase(bench: Workbench): Promise<Record<string, string>> {
  if (!bench.report.smoke) return {};
  const postgres = await startPostgres(bench);
  return "missing" in postgres ? {} : { DATABASE_URL: await postgres.createDatabase() };
}
