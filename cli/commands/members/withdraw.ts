import type { Invitation } from "../../../src/contract/account.ts";
import { ownAccount } from "../../account.ts";
import { path } from "../../api.ts";
import { findById } from "../../by-id.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/members.ts";
import { oneLine } from "../../text.ts";
import { invitationsPath } from "./invitations.ts";

export const withdraw: Handler<typeof table.withdraw> = async (context, { args, flags }) => {
  const { api, account } = await ownAccount(context, flags.account);
  const at = invitationsPath(account);
  const open = await api.list<Invitation>({ path: at }, "invitations");
  const { invitation_id, email } = findById(open, (each) => each.invitation_id, args.invitation, {
    noun: "open invitation",
    hint: "List them with: svc members invitations",
  });
  await api.call({ method: "DELETE", path: at + path`/${invitation_id}` });
  await context.out.result(
    { invitation_id, email, withdrawn: true },
    () =>
      `Withdrew the invitation ${invitation_id.slice(0, 8)}${email === null ? "" : ` of ${oneLine(email)}`}.\n`,
  );
};
