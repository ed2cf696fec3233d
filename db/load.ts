import type { Query } from "./client.ts";
import { type DatabaseShape, fixTextForms, quoteName, shapeOf, type TableShape, text } from "./dump.ts";
import { statementsUpTo } from "./migrate.ts";

/** One insert: few enough bytes for a statement, enough rows to be fast. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_ROWS = 1000;

/** Loads a dump within one transaction. */
export interface Loading {
  /** @returns false when svc has no such table, and its rows are left out */
  knows(table: TableShape): boolean;
  /** Inserts the lines of one table, as `rowsOf` returned them. */
  load(table: TableShape, lines: AsyncIterable<string>): Promise<void>;
  /**
   * Checks references between tables, and sets the sequences.
   * @throws when a row references one that is missing
   */
  finish(): Promise<void>;
}

/** @returns whether the database has no table, sequence or type of anybody */
export async function isEmpty(query: Query): Promise<boolean> {
  const [row] = await query(`
    select count(*)::text as found from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'`);
  return row?.["found"] === "0";
}

/** Creates the tables as they were at the dump's migration. References are checked at the end, so the order is free. */
export async function beginLoad(query: Query, shape: DatabaseShape): Promise<Loading> {
  await query("set local idle_in_transaction_session_timeout to 0");
  await query("create schema if not exists drizzle");
  await query(
    "create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)",
  );
  for (const statement of statementsUpTo(shape.migration)) if (statement.trim()) await query(statement);
  await fixTextForms(query);
  const references = await dropReferences(query);
  // never the types of the dump, which would become part of a statement
  const known = new Map(
    (await shapeOf(query))?.tables.map((table) => [`${table.schema}.${table.name}`, table]),
  );
  const find = ({ schema, name }: TableShape) => known.get(`${schema}.${name}`);
  return {
    knows: (table) => find(table) !== undefined,
    async load(table, lines) {
      const types = new Map(find(table)?.columns.map(({ name, type }) => [name, type]));
      const columns = table.columns.map(({ name }) => ({ name, type: types.get(name) ?? "" }));
      const unknown = columns.find(({ type }) => type === "");
      if (unknown) throw new Error(`the table ${table.name} has no column ${unknown.name}`);
      await insert(query, { ...table, columns }, lines);
    },
    async finish() {
      for (const statement of references) await query(statement);
      for (const { schema, name, last } of shape.sequences) {
        const sequence = `${quoteName(schema)}.${quoteName(name)}`;
        const [found] = await query("select to_regclass($1::text) is not null as found", [sequence]);
        if (found?.["found"] === true)
          await query("select setval($1::text::regclass, $2::text::bigint)", [sequence, last]);
      }
    },
  };
}

/** Drops all foreign keys. @returns the statements that create them again */
async function dropReferences(query: Query): Promise<string[]> {
  const rows = await query(`
    select c.conrelid::regclass::text as table, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_namespace n on n.oid = c.connamespace
    where c.contype = 'f' and n.nspname = 'public'`);
  const create: string[] = [];
  for (const row of rows) {
    const [table, name] = [text(row, "table"), quoteName(text(row, "name"))];
    await query(`alter table ${table} drop constraint ${name}`);
    create.push(`alter table ${table} add constraint ${name} ${text(row, "definition")}`);
  }
  return create;
}

async function insert(query: Query, table: TableShape, lines: AsyncIterable<string>): Promise<void> {
  const names = table.columns.map(({ name }) => quoteName(name)).join();
  const values = table.columns.map(({ type }, index) => `(r->>${index})::${type}`).join();
  const statement = `insert into ${quoteName(table.schema)}.${quoteName(table.name)} (${names})
    overriding system value select ${values} from json_array_elements($1::text::json) r`;
  let [batch, bytes]: [string[], number] = [[], 0];
  const flush = async () => {
    if (batch.length > 0) await query(statement, [`[${batch.join()}]`]);
    [batch, bytes] = [[], 0];
  };
  for await (const line of lines) {
    batch.push(line);
    bytes += line.length;
    if (bytes > BATCH_BYTES || batch.length >= BATCH_ROWS) await flush();
  }
  await flush();
}
