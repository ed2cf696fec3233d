import type { Account, EditAccountBody } from "../../../src/contract/account.ts";
import { ownAccount } from "../../account.ts";
import { path } from "../../api.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/accounts.ts";
import { sheet } from "../../table-print.ts";

export const edit: Handler<typeof table.edit> = async (context, { flags }) => {
  const { name, budget, "session-budget": sessionBudget } = flags;
  const body: EditAccountBody = {
    ...(name !== undefined && { name }),
    ...(budget !== undefined && { model_budget: dollars("budget", budget) }),
    ...(sessionBudget !== undefined && { model_session_budget: dollars("session-budget", sessionBudget) }),
  };
  if (Object.keys(body).length === 0) {
    throw usage("Nothing to change.", "Pass --name, --budget or --session-budget.");
  }
  const { api, account } = await ownAccount(context, flags.account);
  const at = path`/accounts/${account.account_id}`;
  const changed = await api.call<Account>({ method: "PATCH", path: at, body });
  await context.out.result(changed, (view) =>
    sheet(
      [
        ["name", changed.name],
        ["slug", changed.slug],
        ["budget", limitText(changed.model_budget, "a month")],
        ["session budget", limitText(changed.model_session_budget, "a session")],
      ],
      view,
    ),
  );
};

/** US dollars; null for `none`. @throws CliError `usage` */
function dollars(flag: string, text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw usage(`--${flag} must be an amount in US dollars, such as 50 or 0.5, or none.`);
}

const limitText = (limit: number | null, per: string): string =>
  limit === null ? "none" : `${limit} US dollars ${per}`;
