import { and, eq } from "drizzle-orm";
import { accountMembers, users } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import type { ChannelRow } from "./rows.ts";
import { type Slack, SlackError } from "./slack/client.ts";

/** A member of the account who wrote or clicked, as the caller of what follows. */
export interface Member {
  caller: Caller;
  name: string;
}

/**
 * The member whose verified e-mail address is the confirmed one of a person in Slack. Guests, bots, people of other
 * workspaces and deactivated ones are nobody, whatever their address is.
 * @returns null: nobody
 */
export async function findMember(
  { db }: Pick<Deps, "db">,
  slack: Slack,
  { channel, project }: { channel: ChannelRow; project: ProjectRow },
  slackUserId: string,
): Promise<Member | null> {
  const person = await slack.user(slackUserId).catch((error: unknown) => {
    if (error instanceof SlackError && UNKNOWN.includes(error.code)) return null;
    throw error;
  });
  if (!person?.isPerson || !person.isEmailConfirmed || person.teamId !== channel.teamId) return null;
  const email = person.email.trim().toLowerCase();
  if (email === "" || email.includes("\0")) return null;
  const [found] = await db
    .select({ userId: users.userId, name: users.name })
    .from(users)
    .innerJoin(accountMembers, eq(accountMembers.userId, users.userId))
    .where(
      and(
        eq(users.email, email),
        eq(users.emailProven, true),
        eq(accountMembers.accountId, project.accountId),
      ),
    );
  if (!found) return null;
  const { userId, name } = found;
  return { caller: { kind: "user", userId, tokenId: null, expiresAt: null }, name };
}

const UNKNOWN = ["user_not_found", "user_not_visible", "users_not_found"];
