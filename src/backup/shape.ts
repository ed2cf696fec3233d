import type { DatabaseShape, TableShape } from "../../db/dump.ts";
import { DamagedError, parseJson } from "./format.ts";

/** @throws DamagedError when the bytes are not what a backup contains */
export function parseShape(bytes: Uint8Array): DatabaseShape {
  const value = parseJson(bytes);
  const migration = field(value, "migration");
  if (typeof migration !== "number") throw damaged();
  return {
    migration,
    tables: list(value, "tables").map(toTable),
    sequences: list(value, "sequences").map((sequence) => {
      const last = textOf(sequence, "last");
      if (!/^-?\d{1,19}$/.test(last)) throw damaged();
      return { schema: textOf(sequence, "schema"), name: textOf(sequence, "name"), last };
    }),
  };
}

function toTable(table: unknown): TableShape {
  const columns = list(table, "columns").map((column) => ({
    name: textOf(column, "name"),
    type: textOf(column, "type"),
  }));
  return { schema: textOf(table, "schema"), name: textOf(table, "name"), columns };
}

function list(value: unknown, name: string): unknown[] {
  const found = field(value, name);
  if (!Array.isArray(found)) throw damaged();
  return found;
}

function textOf(value: unknown, name: string): string {
  const found = field(value, name);
  if (typeof found !== "string" || found.includes("\0")) throw damaged();
  return found;
}

function field(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

function damaged(): DamagedError {
  return new DamagedError("the description of its tables cannot be read");
}
