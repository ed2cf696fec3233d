import { isTable, type Table } from "./shape.ts";

/** Own strings only: a table from a file may have any name, and lack any. */
export function stringOf(table: Table, key: string): string | null {
  const value = Object.hasOwn(table, key) ? table[key] : null;
  return typeof value === "string" ? value : null;
}

/** The table under a key; an empty one where there is none. */
export function tableOf(table: Table, key: string): Table {
  const value = Object.hasOwn(table, key) ? table[key] : null;
  return isTable(value) ? value : {};
}
