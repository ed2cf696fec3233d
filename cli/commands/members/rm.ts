import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/members.ts";
import { oneLine } from "../../text.ts";
import { findMember } from "./find.ts";

export const rm: Handler<typeof table.rm> = async (context, { args, flags }) => {
  if (!flags.yes && !context.canAsk()) throw usage("Removing a member needs --yes without a terminal.");
  const { api, account, member, at } = await findMember(context, args.member, flags.account);
  const words = `${oneLine(member.email)} from ${oneLine(account.name)}`;
  if (!flags.yes) {
    const { confirm } = await import("../../prompt.ts");
    if (!(await confirm(`Remove ${words}?`))) {
      throw new CliError("cancelled", "Cancelled; nothing was changed.");
    }
  }
  await api.call({ method: "DELETE", path: at });
  const { user_id, email } = member;
  await context.out.result({ user_id, email, removed: true }, () => `Removed ${words}.\n`);
};
