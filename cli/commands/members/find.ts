import type { Member } from "../../../src/contract/account.ts";
import { type OwnAccount, ownAccount } from "../../account.ts";
import { type Api, path } from "../../api.ts";
import { findById } from "../../by-id.ts";
import type { Context } from "../../context.ts";

/** The API's path of an account's members. */
export const membersPath = ({ account_id }: OwnAccount): string => path`/accounts/${account_id}/members`;

/**
 * A member of an account, by e-mail address or by the beginning of the id.
 * @throws CliError `not_found`
 */
export async function findMember(
  context: Context,
  wanted: string,
  ofAccount: string | undefined,
): Promise<{ api: Api; account: OwnAccount; member: Member; at: string }> {
  const { api, account } = await ownAccount(context, ofAccount);
  const all = await api.list<Member>({ path: membersPath(account) }, "members");
  const byEmail = all.find(({ email }) => email.toLowerCase() === wanted.toLowerCase());
  const member =
    byEmail ??
    findById(all, ({ user_id }) => user_id, wanted, {
      noun: "member",
      hint: "List them with: svc members ls",
    });
  return { api, account, member, at: membersPath(account) + path`/${member.user_id}` };
}
