import type { Notifications, UnreadNotifications } from "../../../src/contract/notification.ts";
import { NOTIFICATIONS_KEPT } from "../../../src/contract/notification-event.ts";
import type { Api } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/notifications.ts";
import { oneLine } from "../../text.ts";

export const read: Handler<typeof table.read> = async (context, { args }) => {
  const api = context.apiFor(await context.target());
  const body = args.notification.length === 0 ? {} : { notification_ids: await find(api, args.notification) };
  const answer = await api.call<UnreadNotifications>({
    ...{ method: "POST", path: "/accounts/notifications/read", body },
  });
  await context.out.result(answer, () => `${answer.unread} unread.\n`);
};

/** The notifications whose ids begin with these. @throws CliError `not_found` for none, or several */
async function find(api: Api, names: readonly string[]): Promise<string[]> {
  const query = { limit: String(NOTIFICATIONS_KEPT) };
  const { notifications } = await api.call<Notifications>({ path: "/accounts/notifications", query });
  return names.map((name) => {
    const [first, second] = notifications.filter(({ notification_id }) =>
      notification_id.startsWith(name.toLowerCase() || " "),
    );
    if (first !== undefined && second === undefined) return first.notification_id;
    const shown = oneLine(name.slice(0, 80));
    const why = first ? `Several ids begin with "${shown}".` : `There is no notification "${shown}".`;
    throw new CliError("not_found", why, { hint: "List them with: svc notifications ls" });
  });
}
