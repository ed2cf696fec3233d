import type { NotificationChoice, NotificationSettings } from "../../../src/contract/notification.ts";
import { NOTIFICATION_WAYS } from "../../../src/contract/notification-event.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/notifications.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

const PATH = "/accounts/notifications/settings";

export const set: Handler<typeof table.set> = async (context, { args }) => {
  const { event, ways } = args;
  const choices = event === undefined ? null : [{ event, ways: readWays(ways ?? "") }];
  const api = context.apiFor(await context.target());
  const settings = await (choices
    ? api.call<NotificationSettings>({ method: "PATCH", path: PATH, body: { choices } })
    : api.call<NotificationSettings>({ path: PATH }));
  await context.out.result(settings, (view) => tableOf(settings.choices, COLUMNS, view));
  const isChosen = (way: string) =>
    settings.choices.some((choice) => choice.ways.some((each) => each === way));
  if (isChosen("email") && settings.email_problem !== null) await context.out.warn(settings.email_problem);
  if (isChosen("push") && settings.browsers.length === 0)
    await context.out.note("Push is on in no browser yet. Switch it on under Settings in the dashboard.");
};

function readWays(text: string): string[] {
  if (text === "none") return [];
  const words = text.split(",").map((word) => word.trim());
  const unknown = words.find((word) => !NOTIFICATION_WAYS.some((way) => way === word));
  if (unknown === undefined) return words;
  throw usage(
    `The ways must be some of ${NOTIFICATION_WAYS.join(", ")}, separated by commas, or none.`,
    "Example: svc notifications set session.done page,push",
  );
}

const COLUMNS: readonly Column<NotificationChoice>[] = [
  { title: "EVENT", value: ({ event }) => event },
  { title: "WAYS", value: ({ ways }) => ways.join(",") || "none" },
];
