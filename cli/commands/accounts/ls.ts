import type { Me } from "../../../src/contract/account.ts";
import type { OwnAccount } from "../../account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/accounts.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const target = await context.target();
  const { accounts } = await context.apiFor(target).call<Me>({ path: "/accounts/me" });
  const active = accounts.find(({ account_id }) => account_id === target.accountId) ?? accounts[0];
  const rows = accounts.map((account) => ({ ...account, active: account === active }));
  await context.out.result(rows, (view) => tableOf(rows, COLUMNS, view));
};

const COLUMNS: readonly Column<OwnAccount & { active: boolean }>[] = [
  { title: "SLUG", value: ({ slug }) => slug },
  { title: "NAME", value: ({ name }) => name, flexible: true },
  { title: "ROLE", value: ({ role }) => role },
  {
    title: "ACTIVE",
    value: ({ active }) => (active ? "active" : ""),
    paint: (_, view) => view.paint.green,
  },
];
