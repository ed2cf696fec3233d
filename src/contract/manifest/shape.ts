import { TomlDate } from "smol-toml";
import { isReservedName, SECRET_NAME } from "../environment.ts";
import { nearest } from "../nearest.ts";
import type { Kind } from "./kinds.ts";

/** The definition of a key in a manifest. The check, the JSON Schema and the reference of keys are derived from it. */
export type Shape =
  | ValueShape
  | ValuesShape
  | TableShape
  | ListShape
  | EitherShape
  | NamesShape
  | VariablesShape;

interface Described {
  /** Its description: one sentence. */
  about: string;
  /** Whether it must be set (`required`), or its absence is only a warning (`wanted`). */
  need?: "required" | "wanted";
}
export interface ValueShape extends Described {
  is: "value";
  kind: Kind<unknown>;
  /** The default. */
  fallback?: string | number | boolean;
  /** An example for the error when it is missing. */
  example?: string | number;
}
/** A list of values of one kind. */
export interface ValuesShape extends Described {
  is: "values";
  kind: Kind<string>;
  valuesMax: number;
}
export interface TableShape extends Described {
  is: "table";
  fields: Readonly<Record<string, Shape>>;
  /** Rules across fields, which may themselves be invalid. */
  problemsOf?(table: Table, path: Path): Problem[];
  /** The closest JSON Schema. */
  schema?: Readonly<Record<string, unknown>>;
}
/** A list of tables, `[[key]]`. */
export interface ListShape extends Described {
  is: "list";
  item: TableShape;
  itemsMax: number;
  /** The key whose values are unique, if the tables have it; `slug` by default. */
  unique?: string;
}
/** One table, `[key]`, or a list of tables, `[[key]]`: TOML does not allow both in one file. */
export interface EitherShape extends Described {
  is: "either";
  table: TableShape;
  list: ListShape;
}
/** A list of names of secrets. */
export interface NamesShape extends Described {
  is: "names";
  namesMax: number;
}
/** A table of environment variables. */
export interface VariablesShape extends Described {
  is: "variables";
  kind: Kind<string>;
  variablesMax: number;
}

export type Table = Readonly<Record<string, unknown>>;
/** Keys, and indexes in lists from 0. */
export type Path = readonly (string | number)[];
export interface Problem {
  path: Path;
  /** Where it is reported: at the key, at its value or, if it is missing, at the table that lacks it. */
  at: "key" | "value" | "parent";
  message: string;
  severity: "error" | "warning";
}

/** The most problems that are reported, and the most unknown keys that are checked in a table. */
export const PROBLEMS_MAX = 50;
/** Characters of a key that are repeated in a message. */
const SHOWN_MAX = 64;

/** Finds the problems in a value. Limits their number, because the file may be hostile. */
export function problemsOf(shape: Shape, value: unknown, path: Path): Problem[] {
  switch (shape.is) {
    case "value":
      return shape.kind.fits(value) ? [] : [wrong(path, shape.kind.fault(value))];
    case "table":
      return isTable(value)
        ? problemsInTable(shape, value, path)
        : [wrong(path, path.some(isIndex) ? "must be a table" : `must be a table: [${nameOf(path)}]`)];
    case "either":
      return problemsOf(Array.isArray(value) ? shape.list : shape.table, value, path);
    case "list":
      return Array.isArray(value)
        ? problemsInList(shape, value, path)
        : [
            wrong(
              path,
              `must be a list of tables, each with the header [[${nameOf(path.filter((part) => !isIndex(part)))}]]`,
            ),
          ];
    case "values":
      return Array.isArray(value)
        ? problemsInValues(shape, value, path)
        : [wrong(path, "must be a list of strings, in brackets")];
    case "names":
      return Array.isArray(value)
        ? problemsInNames(shape, value, path)
        : [wrong(path, 'must be a list of names such as ["API_KEY"]')];
    case "variables":
      return isTable(value)
        ? problemsInVariables(shape, value, path)
        : [wrong(path, "must be a table of names and strings")];
  }
}

const isIndex = (part: string | number): part is number => typeof part === "number";

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof TomlDate);

function problemsInTable(shape: TableShape, table: Table, path: Path): Problem[] {
  const { fields } = shape;
  const known = Object.keys(fields);
  const missing = known.filter((key) => fields[key]?.need && !Object.hasOwn(table, key));
  const unknown = Object.keys(table).filter((key) => !Object.hasOwn(fields, key));
  return [
    ...missing.map((key) => lacks(fields, path, key)),
    ...known.flatMap((key) => {
      const shape = fields[key];
      return shape && Object.hasOwn(table, key) ? problemsOf(shape, table[key], [...path, key]) : [];
    }),
    ...unknown.slice(0, PROBLEMS_MAX).map((key) => notKnown([...path, key], known)),
    ...(shape.problemsOf?.(table, path) ?? []),
  ];
}

export function lacks(fields: TableShape["fields"], path: Path, key: string): Problem {
  const shape = fields[key];
  const example = shape?.is === "value" ? JSON.stringify(shape.example) : undefined;
  const advice = example === undefined ? "" : `: add ${key} = ${example}`;
  return {
    path: [...path, key],
    at: "parent",
    message: `${nameOf([...path, key])} is missing${advice}.`,
    severity: shape?.need === "wanted" ? "warning" : "error",
  };
}

function notKnown(path: Path, known: readonly string[]): Problem {
  const guess = nearest(String(path.at(-1)), known);
  const advice = guess === undefined ? `Known: ${known.join(", ")}.` : `Did you mean ${guess}?`;
  const message = `${nameOf(path)} is not a known key and is ignored. ${advice}`;
  return { path, at: "key", message, severity: "warning" };
}

function problemsInList(shape: ListShape, list: readonly unknown[], path: Path): Problem[] {
  const { unique = "slug" } = shape;
  const seen = new Set<unknown>();
  const problems = list.slice(0, shape.itemsMax).flatMap((item, index) => {
    const itemPath = [...path, index];
    if (!isTable(item)) return problemsOf(shape.item, item, itemPath);
    const found = problemsInTable(shape.item, item, itemPath);
    if (!Object.hasOwn(shape.item.fields, unique)) return found;
    found.push(...problemsOfRepeat(item[unique], [...itemPath, unique], seen));
    if (!found.some(isError)) seen.add(item[unique]);
    return found;
  });
  const { itemsMax } = shape;
  return list.length > itemsMax ? [...problems, overLimit([...path, itemsMax], itemsMax)] : problems;
}

/** The first valid item keeps the name. */
function problemsOfRepeat(value: unknown, path: Path, seen: ReadonlySet<unknown>): Problem[] {
  return seen.has(value)
    ? [wrong(path, `is "${value}" again: ${path.at(-1)}s must be unique, and only the first is used`)]
    : [];
}

function overLimit(path: Path, most: number): Problem {
  return wrong(path, `exceeds the limit: only the first ${most} are used`);
}

export const isError = ({ severity }: Problem): boolean => severity === "error";

function problemsInValues({ kind, valuesMax }: ValuesShape, list: readonly unknown[], path: Path): Problem[] {
  const problems = list
    .slice(0, valuesMax)
    .flatMap((value, index) => (kind.fits(value) ? [] : [wrong([...path, index], kind.fault(value))]));
  return list.length > valuesMax ? [...problems, overLimit([...path, valuesMax], valuesMax)] : problems;
}

function problemsInNames({ namesMax }: NamesShape, list: readonly unknown[], path: Path): Problem[] {
  const problems = list.slice(0, namesMax).flatMap((name, index): Problem[] => {
    const namePath = [...path, index];
    if (!isSecretName(name)) return [wrong(namePath, "must be a name of A-Z, 0-9 and _, in quotes")];
    return isReservedName(name) ? [reserved(namePath, name, "it cannot be a secret")] : [];
  });
  return list.length > namesMax ? [...problems, overLimit([...path, namesMax], namesMax)] : problems;
}

export const isSecretName = (value: unknown): value is string =>
  typeof value === "string" && SECRET_NAME.test(value);

/** Spec 2.8: a reserved name can never be set. */
function reserved(path: Path, name: string, so: string): Problem {
  const message = `${nameOf(path)} names ${name}, which is reserved for svc or the sandbox: ${so}.`;
  return { path, at: "value", message, severity: "warning" };
}

function problemsInVariables(shape: VariablesShape, table: Table, path: Path): Problem[] {
  const names = Object.keys(table);
  const problems = names.slice(0, shape.variablesMax).flatMap((name): Problem[] => {
    const { kind } = shape;
    const namePath = [...path, name];
    if (!isSecretName(name)) return [{ ...wrong(namePath, "must have a name of A-Z, 0-9 and _"), at: "key" }];
    if (!kind.fits(table[name])) return [wrong(namePath, kind.fault(table[name]))];
    return isReservedName(name)
      ? [{ ...reserved(path, name, "it is ignored"), path: namePath, at: "key" }]
      : [];
  });
  return names.length > shape.variablesMax
    ? [...problems, wrong(path, `must have at most ${shape.variablesMax} variables`)]
    : problems;
}

/** @param fault the end of a sentence that starts with the key */
export function wrong(path: Path, fault: string): Problem {
  return { path, at: "value", message: `${nameOf(path)} ${fault}.`, severity: "error" };
}

/** Formats a path, such as `triggers[0].cron`. Quotes keys that need it, so that the result is always one line. */
export function nameOf(path: Path): string {
  return path
    .map((part, index) => (isIndex(part) ? `[${part}]` : `${index === 0 ? "" : "."}${keyOf(part)}`))
    .join("");
}

function keyOf(key: string): string {
  const shown = key.slice(0, SHOWN_MAX);
  return /^[\w-]+$/.test(shown) ? shown : JSON.stringify(shown);
}
