import { parse, TomlError } from "smol-toml";
import { BOM } from "./positions.ts";
import type { ManifestError } from "./report.ts";
import { isError, isTable, type ListShape, type Problem, type Table } from "./shape.ts";

/** Size of the largest `svc.toml` that svc reads, in bytes. */
export const MANIFEST_MAX_BYTES = 256 * 1024;

type Parsed = { root: Table; error?: never } | { root: null; error: ManifestError };

/** Parses the text of a manifest. */
export function parseFile(text: string): Parsed {
  if (text.length > MANIFEST_MAX_BYTES || new TextEncoder().encode(text).length > MANIFEST_MAX_BYTES) {
    return notRead(
      `The file is larger than ${MANIFEST_MAX_BYTES / 1024} KiB, the limit, and is not read.`,
      1,
      1,
    );
  }
  try {
    return { root: parse(text, { integersAsBigInt: "asNeeded" }) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { message, line, column } = error;
    const [first = ""] = message.split("\n");
    const reason = first.replace(/^Invalid TOML document: |\.$/g, "");
    const shift = line === 1 && text.startsWith(BOM) ? BOM.length : 0;
    return notRead(`The file is not TOML: ${reason}.`, line, Math.max(1, column - shift));
  }
}

function notRead(message: string, line: number, column: number): Parsed {
  return { root: null, error: { path: "", message, line, column, severity: "error" } };
}

/** The tables of a list in the manifest that have no errors, with their indexes. */
export function validItems(
  root: Table,
  key: string,
  { itemsMax }: ListShape,
  problems: readonly Problem[],
): { index: number; item: Table }[] {
  const list = Object.hasOwn(root, key) ? root[key] : [];
  if (!Array.isArray(list)) return [];
  const bad = new Set(
    problems.filter((one) => isError(one) && one.path[0] === key).map(({ path }) => path[1]),
  );
  return list
    .slice(0, itemsMax)
    .flatMap((item, index) => (isTable(item) && !bad.has(index) ? [{ index, item }] : []));
}
