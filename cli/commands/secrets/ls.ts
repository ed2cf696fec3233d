import type { SecretList } from "../../../src/contract/secret.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";
import { listMine } from "./mine.ts";

interface Row {
  name: string;
  audience: string;
  updatedAt: string | null;
  requirement: string;
}

export const ls: Handler<typeof table.ls> = async (context, { flags: { mine } }) => {
  const list = mine
    ? { items: await listMine(context), required: [], optional: [], missing: [] }
    : await listOfProject(context);
  const rows = rowsOf(list);
  await context.out.result(list, (view) => {
    const columns: Column<Row>[] = [
      { title: "NAME", value: ({ name }) => name },
      {
        title: "SET",
        value: ({ updatedAt }) => (updatedAt && view.tty ? ago(updatedAt, view.now) : (updatedAt ?? "")),
      },
      { title: "FOR", value: ({ audience }) => audience },
      ...(mine ? [] : [{ title: "MANIFEST", value: ({ requirement }: Row) => requirement }]),
    ];
    return rows.length === 0 ? "" : tableOf(rows, columns, view);
  });
  if (rows.length === 0)
    await context.out.note(`No secrets yet. Next: svc secrets set ${mine ? "--mine " : ""}NAME=-`);
  else if (list.missing.length > 0)
    await context.out.note(`Missing: ${list.missing.join(", ")}. Next: svc secrets set ${list.missing[0]}=-`);
};

async function listOfProject(context: Context): Promise<SecretList> {
  const { id } = await context.project();
  const api = await context.api();
  return await api.call<SecretList>({ path: path`/projects/${id}/secrets` });
}

/** The secrets that are set, then those that only the manifest names. */
function rowsOf({ items, required, optional, missing }: SecretList): Row[] {
  const requirement = (name: string) =>
    required.includes(name)
      ? missing.includes(name)
        ? "required, missing"
        : "required"
      : optional.includes(name)
        ? "optional"
        : "";
  const set = items.map(({ name, for: audience, updated_at }) => ({
    name,
    audience: audience.join(", "),
    updatedAt: updated_at,
    requirement: requirement(name),
  }));
  const named = [...required, ...optional].filter((name) => !items.some((item) => item.name === name));
  return [
    ...set,
    ...named.map((name) => ({ name, audience: "", updatedAt: null, requirement: requirement(name) })),
  ];
}
