import type { Usage, UsageRow } from "../../src/contract/usage.ts";
import { ownAccount } from "../account.ts";
import { path } from "../api.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/usage.ts";
import { type Column, table as tableOf } from "../table-print.ts";
import { costText } from "../text.ts";
import { periodOf } from "../time-flag.ts";

export const usage: Handler<typeof table.usageSpec> = async (context, { flags }) => {
  const { api, account } = await ownAccount(context, flags.account);
  const query = { group_by: flags.by ?? "day", ...periodOf(flags) };
  const answer = await api.call<Usage>({ path: path`/accounts/${account.account_id}/usage`, query });
  await context.out.result(answer, (view) => {
    if (answer.usage.length === 0) return "";
    const total: UsageRow = { key: "total", name: null, ...answer.total };
    const rows = view.tty ? [...answer.usage, total] : answer.usage;
    return tableOf(rows, columnsOf(answer.group_by), view);
  });
  if (answer.usage.length === 0) await context.out.note("No model calls in this period.");
  if (answer.truncated) await context.out.warn(`Only ${answer.usage.length} groups are shown.`);
};

function columnsOf(group: Usage["group_by"]): Column<UsageRow>[] {
  return [
    {
      title: group.toUpperCase(),
      value: ({ key }) => key ?? "",
      shown: ({ key, name }) => name ?? key ?? "(deleted)",
      flexible: true,
    },
    { title: "CALLS", value: ({ calls }) => String(calls) },
    { title: "INPUT", value: ({ tokens }) => String(tokens.input) },
    { title: "CACHED", value: ({ tokens }) => String(tokens.cached) },
    { title: "OUTPUT", value: ({ tokens }) => String(tokens.output) },
    { title: "COST", value: ({ cost }) => (cost === null ? "" : String(cost)), shown: shownCost },
  ];
}

function shownCost({ cost, incomplete }: UsageRow): string {
  if (cost === null) return "unknown";
  return `${incomplete > 0 ? "~" : ""}${costText(cost)}`;
}
