import type { SigningKey } from "../../../src/contract/signing-key.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/signing-keys.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const api = await context.api();
  const keys = await api.items<SigningKey>({ path: "/users/me/signing-keys" });
  await context.out.result(keys, (view) => (keys.length === 0 ? "" : tableOf(keys, COLUMNS, view)));
  if (keys.length === 0)
    await context.out.note("No signing keys yet. Next: svc signing-keys add ~/.ssh/id_ed25519.pub");
};

const COLUMNS: readonly Column<SigningKey>[] = [
  { title: "ID", value: ({ id }) => String(id) },
  { title: "TITLE", value: ({ title }) => title, flexible: true },
  { title: "TYPE", value: ({ key }) => key.split(" ")[0] ?? "" },
  { title: "FINGERPRINT", value: ({ fingerprint }) => fingerprint },
  {
    title: "ADDED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, { now }) => ago(created_at, now),
  },
];
