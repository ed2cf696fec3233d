import type { Query } from "./client.ts";

/** A table of a dump; names and types as Postgres writes them. */
export interface TableShape {
  schema: string;
  name: string;
  columns: { name: string; type: string }[];
}

export interface DatabaseShape {
  /** The time of the newest migration, in milliseconds since the epoch. */
  migration: number;
  tables: TableShape[];
  /** The last value of each sequence that was used. */
  sequences: { schema: string; name: string; last: string }[];
}

/** The schemas with svc's own tables. The job queue (`jobs`) is created again from the other tables. */
export const DUMPED_SCHEMAS = ["public", "drizzle"] as const;
/** Rows of one round trip: a row has at most about a megabyte. */
const ROWS_PER_FETCH = 64;
/** In every text form, so that another server reads the same values. */
const TEXT_FORMS = [
  "set local timezone to 'UTC'",
  "set local datestyle to 'ISO, YMD'",
  "set local intervalstyle to 'postgres'",
  "set local bytea_output to 'hex'",
  "set local extra_float_digits to 3",
  "set local search_path to pg_catalog, public",
];

/** Sets the text forms of values for this transaction. */
export async function fixTextForms(query: Query): Promise<void> {
  for (const statement of TEXT_FORMS) await query(statement);
}

/** @returns what a dump of this database holds; null if svc has not created its tables */
export async function shapeOf(query: Query): Promise<DatabaseShape | null> {
  const [known] = await query("select to_regclass('drizzle.__drizzle_migrations') is not null as known");
  if (known?.["known"] !== true) return null;
  const [newest] = await query("select max(created_at)::text as migration from drizzle.__drizzle_migrations");
  const schemas = DUMPED_SCHEMAS.map((name) => `'${name}'`).join();
  const columns = await query(`
    select n.nspname::text as schema, c.relname::text as table, a.attname::text as column,
      format_type(a.atttypid, a.atttypmod) as type
    from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind = 'r' and n.nspname in (${schemas}) and c.relname ~ '^[a-z_][a-z0-9_]*$'
    order by n.nspname, c.relname, a.attnum`);
  const tables = new Map<string, TableShape>();
  for (const row of columns) {
    const [schema, name] = [text(row, "schema"), text(row, "table")];
    const table = tables.get(`${schema}.${name}`) ?? { schema, name, columns: [] };
    table.columns.push({ name: text(row, "column"), type: text(row, "type") });
    tables.set(`${schema}.${name}`, table);
  }
  const sequences = await query(`
    select schemaname::text as schema, sequencename::text as name, last_value::text as last
    from pg_sequences where schemaname in (${schemas}) and last_value is not null`);
  return {
    migration: Number(newest?.["migration"] ?? 0),
    tables: [...tables.values()],
    sequences: sequences.map((row) => ({
      schema: text(row, "schema"),
      name: text(row, "name"),
      last: text(row, "last"),
    })),
  };
}

/** Reads a table through a cursor. @returns one line of JSON for each row: its columns as text or null */
export async function* rowsOf(query: Query, { schema, name, columns }: TableShape): AsyncGenerator<string> {
  const values = columns.map((column) => `${quoteName(column.name)}::text`).join();
  const from = `${quoteName(schema)}.${quoteName(name)}`;
  await query(
    `declare dump no scroll cursor for select json_build_array(${values})::text as line from ${from}`,
  );
  for (;;) {
    const rows = await query(`fetch ${ROWS_PER_FETCH} from dump`);
    for (const row of rows) yield `${text(row, "line")}\n`;
    if (rows.length < ROWS_PER_FETCH) break;
  }
  await query("close dump");
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A column that is never null. */
export function text(row: Record<string, unknown>, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new Error(`the database returned no text for ${column}`);
  return value;
}
