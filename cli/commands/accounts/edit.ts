import type { Account, EditAccountBody } from "../../../src/contract/account.ts";
import { ownAccount } from "../../account.ts";
import { path } from "../../api.ts";
import { budgetLines, budgetsOf } from "../../dollars.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/accounts.ts";
import { sheet } from "../../table-print.ts";

export const edit: Handler<typeof table.edit> = async (context, { flags }) => {
  const body: EditAccountBody = {
    ...(flags.name !== undefined && { name: flags.name }),
    ...budgetsOf(flags),
  };
  if (Object.keys(body).length === 0) {
    throw usage("Nothing to change.", "Pass --name, --budget or --session-budget.");
  }
  const { api, account } = await ownAccount(context, flags.account);
  const at = path`/accounts/${account.account_id}`;
  const changed = await api.call<Account>({ method: "PATCH", path: at, body });
  await context.out.result(changed, (view) =>
    sheet([["name", changed.name], ["slug", changed.slug], ...budgetLines(changed)], view),
  );
};
