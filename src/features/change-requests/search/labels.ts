import type { Db } from "../../../../db/client.ts";
import type { Term } from "../../../contract/search/parse.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { keyOf, labelsNamed } from "../labels/named.ts";

/** The ids of the labels that the terms of a search name, by the terms' values. @throws validation_failed */
export async function labelsIn(
  db: Db,
  { projectId }: ProjectRow,
  terms: readonly Term[],
): Promise<Map<string, string>> {
  const names = terms.flatMap(({ name, value }) => (name === "label" ? [value] : []));
  const found = await labelsNamed(db, projectId, names, "read");
  return new Map(names.map((name) => [name, found.get(keyOf(name))?.labelId ?? ""]));
}
