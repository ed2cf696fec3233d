import { join } from "node:path";
import * as kinds from "../src/contract/manifest/kinds.ts";
import type { ListShape, Shape, TableShape, ValueShape } from "../src/contract/manifest/shape.ts";
import { manifestShape } from "../src/contract/manifest/tables.ts";
import { ROOT } from "./binaries.ts";

type Schema = Record<string, unknown>;

const SCHEMA = join(ROOT, "docs/svc.schema.json");
const PAGE = join(ROOT, "docs/manifest.md");
/** The page between these markers is generated. */
const MARKS = /(?<=<!-- keys: .* -->\n\n)[\s\S]*(?=<!-- end of the keys -->)/;

if (import.meta.main) {
  await Bun.write(SCHEMA, renderSchema());
  await Bun.write(PAGE, withKeys(await Bun.file(PAGE).text()));
}

/** The JSON Schema of `svc.toml` (draft 7, which TOML editors support). */
export function renderSchema(): string {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "svc.toml",
    ...schemaOf(manifestShape),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function schemaOf(shape: Shape): Schema {
  const description = shape.about;
  switch (shape.is) {
    case "value":
      return { description, ...shape.kind.schema, ...suggestions(shape) };
    case "table":
      return { description, ...schemaOfTable(shape) };
    case "list":
      return { description, type: "array", maxItems: shape.itemsMax, items: schemaOf(shape.item) };
    case "either":
      return { description, anyOf: [schemaOf(shape.table), schemaOf(shape.list)] };
    case "values":
      return { description, type: "array", maxItems: shape.valuesMax, items: shape.kind.schema };
    case "names":
      return { description, type: "array", maxItems: shape.namesMax, items: kinds.secretName.schema };
    case "variables":
      return {
        description,
        type: "object",
        maxProperties: shape.variablesMax,
        propertyNames: kinds.secretName.schema,
        additionalProperties: shape.kind.schema,
      };
  }
}

function suggestions({ fallback, example }: ValueShape): Schema {
  return {
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

function schemaOfTable({ fields, schema }: TableShape): Schema {
  const entries = Object.entries(fields);
  const needed = entries.flatMap(([key, shape]) => (shape.need === undefined ? [] : [key]));
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, shape]) => [key, schemaOf(shape)])),
    additionalProperties: false,
    ...(needed.length > 0 ? { required: needed } : {}),
    ...schema,
  };
}

/** The page with its reference of keys regenerated. */
export function withKeys(page: string): string {
  return page.replace(MARKS, () => `${sections(manifestShape).join("\n")}\n`);
}

function sections({ fields }: TableShape): string[] {
  return Object.entries(fields).flatMap(([key, shape]) => {
    if (shape.is === "list") return sectionsOfList(key, shape);
    if (shape.is === "either") return [...sectionOf(key, shape.table), ...sectionsOfList(key, shape.list)];
    return shape.is === "table" ? sectionOf(key, shape) : [];
  });
}

function sectionOf(key: string, table: TableShape): string[] {
  return [`### \`[${key}]\``, "", table.about, "", ...rows(table), ""];
}

/** With the lists in its tables, each as a section of its own. */
function sectionsOfList(key: string, { about, item }: ListShape): string[] {
  const inner = Object.entries(item.fields).flatMap(([name, shape]) =>
    shape.is === "list" ? sectionsOfList(`${key}.${name}`, shape) : [],
  );
  return [`### \`[[${key}]]\``, "", about, "", ...rows(item), "", ...inner];
}

function rows(table: TableShape): string[] {
  const keys = flatten(table).map(([key, shape]) => {
    const need = shape.need === "required" ? shape.need : "";
    const fallback = shape.is === "value" && shape.fallback !== undefined ? `\`${shape.fallback}\`` : need;
    return `| \`${key}\` | ${kindOf(shape)} | ${fallback} | ${shape.about} |`;
  });
  return ["| Key | Type | Default | Description |", "|---|---|---|---|", ...keys];
}

/** The keys of nested tables, as dotted keys. */
function flatten({ fields }: TableShape): [string, Shape][] {
  return Object.entries(fields).flatMap(([key, shape]) =>
    shape.is === "list"
      ? []
      : shape.is === "table"
        ? flatten(shape).map(([inner, each]): [string, Shape] => [`${key}.${inner}`, each])
        : [[key, shape] satisfies [string, Shape]],
  );
}

function kindOf(shape: Shape): string {
  if (shape.is === "names") return `a list of names, at most ${shape.namesMax}`;
  if (shape.is === "values") return `a list, at most ${shape.valuesMax}: ${shape.kind.expected}`;
  if (shape.is === "variables") return `a table of names and strings, at most ${shape.variablesMax}`;
  if (shape.is !== "value") throw new Error(`a ${shape.is} has no row`);
  return shape.kind.expected;
}
