import { identify } from "../identity.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/account.ts";
import { sheet } from "../table-print.ts";

export const whoami: Handler<typeof table.whoami> = async (context) => {
  const target = await context.target();
  const { identity, accounts } = await identify(context.apiFor(target));
  const account = accounts.find((each) => each.account_id === target.accountId) ?? accounts[0] ?? null;
  const answer = {
    ...identity,
    account,
    accounts,
    host: target.name,
    host_url: target.url,
    token_source: target.tokenSource,
  };
  await context.out.result(answer, (view) =>
    sheet(
      [
        ["user", identity.email],
        ["account", account && `${account.name} (${account.role})`],
        ["project", identity.kind === "project" ? (identity.project_name ?? identity.project_id) : null],
        ["project id", identity.kind === "project" ? identity.project_id : null],
        ["session", identity.session_id],
        ["token", identity.kind === "project" ? "project token" : "user token"],
        ["scopes", identity.scopes.join(", ")],
        ["expires", identity.expires_at],
        ["host", `${target.name} (${target.url})`],
      ],
      view,
    ),
  );
};
