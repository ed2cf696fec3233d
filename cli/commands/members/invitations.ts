import type { Invitation } from "../../../src/contract/account.ts";
import { type OwnAccount, ownAccount } from "../../account.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/members.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

/** The API's path of an account's invitations. */
export const invitationsPath = ({ account_id }: OwnAccount): string =>
  path`/accounts/${account_id}/invitations`;

export const invitations: Handler<typeof table.invitations> = async (context, { flags }) => {
  const { api, account } = await ownAccount(context, flags.account);
  const open = await api.list<Invitation>({ path: invitationsPath(account) }, "invitations");
  await context.out.result(open, (view) => (open.length === 0 ? "" : tableOf(open, COLUMNS, view)));
  if (open.length === 0) await context.out.note("No open invitations. Next: svc members invite <email>");
};

const COLUMNS: readonly Column<Invitation>[] = [
  {
    title: "ID",
    value: ({ invitation_id }) => invitation_id,
    shown: ({ invitation_id }) => invitation_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  {
    title: "FOR",
    value: ({ email }) => email ?? "",
    shown: ({ email }) => email ?? "anyone with the link",
    flexible: true,
  },
  { title: "ROLE", value: ({ role }) => role },
  {
    title: "EXPIRES",
    value: ({ expires_at }) => expires_at,
    shown: ({ expires_at }) => expires_at.slice(0, 10),
  },
];
