import { asc, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { notificationChoices, pushBrowsers, users } from "../../../db/schema/index.ts";
import type { EditNotificationSettingsBody, NotificationSettings } from "../../contract/notification.ts";
import { DEFAULT_WAYS, NOTIFICATION_EVENTS, NOTIFICATION_WAYS } from "../../contract/notification-event.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { browserToWire } from "./browsers.ts";
import { vapidKeys } from "./push/vapid.ts";

/** How the caller is notified of each event, and where they can be reached. */
export async function readSettings(deps: Deps, { userId }: Caller): Promise<NotificationSettings> {
  const [user] = await deps.db
    .select({ email: users.email, isProven: users.emailProven })
    .from(users)
    .where(eq(users.userId, userId));
  const browsers = await deps.db
    .select()
    .from(pushBrowsers)
    .where(eq(pushBrowsers.userId, userId))
    .orderBy(asc(pushBrowsers.createdAt), asc(pushBrowsers.browserId));
  return {
    choices: await choicesOf(deps.db, userId),
    email: user?.email ?? null,
    email_problem: emailProblem(deps, user?.isProven ?? false),
    push_key: vapidKeys(deps.keys).publicKey.toString("base64url"),
    browsers: browsers.map(browserToWire),
  };
}

/** Changes how the caller is notified of some events. */
export async function editSettings(
  deps: Deps,
  caller: Caller,
  { choices }: EditNotificationSettingsBody,
): Promise<NotificationSettings> {
  const { userId } = caller;
  // of an event that is named twice the last counts
  const wanted = new Map(choices.map(({ event, ways }) => [event, ways]));
  await deps.db
    .insert(notificationChoices)
    .values(
      [...wanted].map(([event, ways]) => ({
        ...{ userId, event },
        ways: NOTIFICATION_WAYS.filter((way) => ways.includes(way)),
      })),
    )
    .onConflictDoUpdate({
      target: [notificationChoices.userId, notificationChoices.event],
      set: { ways: sql`excluded.ways` },
    });
  return await readSettings(deps, caller);
}

async function choicesOf(db: Db, userId: string): Promise<NotificationSettings["choices"]> {
  const rows = await db.select().from(notificationChoices).where(eq(notificationChoices.userId, userId));
  const chosen = new Map(rows.map(({ event, ways }) => [event, ways]));
  return NOTIFICATION_EVENTS.map((event) => ({
    event,
    ways: [...(chosen.get(event) ?? DEFAULT_WAYS[event])],
  }));
}

function emailProblem({ config }: Pick<Deps, "config">, isProven: boolean): string | null {
  if (!config.mail) return "This server sends no e-mails. Its operator sets SVC_SMTP_URL and SVC_MAIL_FROM.";
  return isProven
    ? null
    : "Your address is not verified, so no e-mails are sent to it. Ask an owner of an account to invite it, or sign in with GitHub.";
}
