import { expect } from "bun:test";
import { isGroup } from "../../cli/spec.ts";
import { TABLE } from "../../cli/table.ts";

const SPECS = TABLE.flatMap((node) => (isGroup(node) ? node.commands : [node])).map(({ spec }) => spec);

/** Verifies that the JSON which a command printed has exactly its documented fields. @param args from the command's name on */
export function expectDocumentedFields(args: readonly string[], stdout: string): void {
  const spec = SPECS.filter(({ path }) => path.every((word, i) => args[i] === word)).toSorted(
    (a, b) => b.path.length - a.path.length,
  )[0];
  const value: unknown = JSON.parse(stdout);
  const one = Array.isArray(value) ? value[0] : value;
  // only of a patch that is not UTF-8
  const fields = (spec?.fields ?? []).filter((field) => field !== "patch_base64");
  expect(Object.keys(Object(one)).toSorted()).toEqual(fields.toSorted());
}
