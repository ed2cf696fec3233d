import type { Me } from "../src/contract/account.ts";
import type { Api } from "./api.ts";
import type { Context } from "./context.ts";
import { CliError } from "./failure.ts";
import { oneLine } from "./text.ts";

/** An account of the caller, as `GET /v1/accounts/me` has it. */
export type OwnAccount = Me["accounts"][number];

/**
 * The account that a command is about: the one wanted, by its id or slug, else the active one of the host, else the first.
 * @throws CliError `not_found` if the caller is not a member of it
 */
export async function ownAccount(
  context: Context,
  wanted: string | undefined,
): Promise<{ api: Api; account: OwnAccount }> {
  const target = await context.target();
  const api = context.apiFor(target);
  const { accounts } = await api.call<Me>({ path: "/accounts/me" });
  const name = wanted ?? target.accountId;
  const account =
    name === undefined
      ? accounts[0]
      : accounts.find(({ account_id, slug }) => name === account_id || name === slug);
  if (account) return { api, account };
  throw new CliError("not_found", `Account "${oneLine((name ?? "").slice(0, 80))}" not found.`, {
    hint: "Yours: svc accounts ls",
  });
}

/**
 * The id of the account for what a command creates or lists: the one wanted, by its id or slug, else the active one.
 * @returns undefined if there is neither: the server chooses
 * @throws CliError `not_found`
 */
export async function accountId(context: Context, wanted: string | undefined): Promise<string | undefined> {
  if (wanted !== undefined) return (await ownAccount(context, wanted)).account.account_id;
  return (await context.target()).accountId;
}
