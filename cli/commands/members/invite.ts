import type { InviteBody, MadeInvitation } from "../../../src/contract/account.ts";
import { ownAccount } from "../../account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/members.ts";
import { oneLine } from "../../text.ts";
import { invitationsPath } from "./invitations.ts";

export const invite: Handler<typeof table.invite> = async (context, { args, flags }) => {
  const { api, account } = await ownAccount(context, flags.account);
  const body: InviteBody = {
    role: flags.role ?? "member",
    ...(args.email !== undefined && { email: args.email }),
  };
  const made = await api.call<MadeInvitation>({ path: invitationsPath(account), body });
  await context.out.result(made, () => `${oneLine(made.url)}\n`);
  const who = made.email === null ? "Anyone with this link" : oneLine(made.email);
  const until = made.expires_at.slice(0, 10);
  await context.out.note(
    `${who} can join ${oneLine(account.name)} as ${made.role} until ${until}. Send the link: it is not shown again.`,
  );
};
