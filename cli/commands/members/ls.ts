import type { Member } from "../../../src/contract/account.ts";
import { ownAccount } from "../../account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/members.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";
import { membersPath } from "./find.ts";

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const { api, account } = await ownAccount(context, flags.account);
  const members = await api.list<Member>({ path: membersPath(account) }, "members");
  await context.out.result(members, (view) => tableOf(members, COLUMNS, view));
};

const COLUMNS: readonly Column<Member>[] = [
  { title: "EMAIL", value: ({ email }) => email, flexible: true },
  { title: "NAME", value: ({ name }) => name, flexible: true },
  { title: "ROLE", value: ({ role }) => role },
  {
    title: "SINCE",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, { now }) => ago(created_at, now),
  },
];
