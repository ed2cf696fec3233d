import type { Member } from "../../../src/contract/account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/members.ts";
import { oneLine } from "../../text.ts";
import { findMember } from "./find.ts";

export const role: Handler<typeof table.role> = async (context, { args, flags }) => {
  const { api, account, at } = await findMember(context, args.member, flags.account);
  const changed = await api.call<Member>({ method: "PATCH", path: at, body: { role: args.role } });
  await context.out.result(
    changed,
    () => `The role of ${oneLine(changed.email)} in ${oneLine(account.name)} is ${changed.role}.\n`,
  );
};
