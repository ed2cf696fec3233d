import type { Me } from "../../../src/contract/account.ts";
import { ownAccount } from "../../account.ts";
import { configPath } from "../../config.ts";
import { updateConfig } from "../../config-write.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/accounts.ts";
import type { Target } from "../../target.ts";
import { oneLine } from "../../text.ts";

export const swap: Handler<typeof table.swap> = async (context, { args }) => {
  const target = await context.target();
  requireStoredToken(target);
  const { account } = await ownAccount(context, args.account ?? (await pickAccount(context, target)));
  const { account_id, name, slug, role } = account;
  await updateConfig(configPath(context.system), (config) => {
    const entry = config.hosts[target.name];
    // it was signed out meanwhile
    if (entry?.token !== target.token) return config;
    return { ...config, hosts: { ...config.hosts, [target.name]: { ...entry, account_id } } };
  });
  await context.out.result(
    { account_id, name, slug, role, host: target.name },
    () => `The active account on ${target.name} is ${oneLine(name)} (${oneLine(slug)}).\n`,
  );
};

/** The active account is stored with the token of a host. @throws CliError `usage` */
function requireStoredToken({ tokenSource }: Target): void {
  if (tokenSource === null || tokenSource === "config") return;
  throw usage(
    `The token comes from ${tokenSource}, and the active account is stored with the token of \`svc login\`.`,
    "Pass --account to a command instead.",
  );
}

async function pickAccount(context: Context, target: Target): Promise<string> {
  if (!context.canAsk()) throw usage("An account is required.", "List them with: svc accounts ls");
  const { accounts } = await context.apiFor(target).call<Me>({ path: "/accounts/me" });
  if (accounts.length === 0) throw new CliError("not_found", "You are not a member of an account.");
  const { choose } = await import("../../prompt.ts");
  const choices = accounts.map(({ account_id, name, role }) => ({
    value: account_id,
    label: name,
    hint: role,
  }));
  return choose("Which account should be active?", choices, target.accountId);
}
