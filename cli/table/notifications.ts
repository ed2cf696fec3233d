import type { Notification } from "../../src/contract/notification.ts";
import { NOTIFICATION_EVENTS } from "../../src/contract/notification-event.ts";
import { bind, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";

const FIELDS = fieldsOf<Notification>()([
  "notification_id",
  "event",
  "project_id",
  "project_slug",
  "project_name",
  "session_id",
  "change_request",
  "app",
  "title",
  "text",
  "url",
  "read_at",
  "created_at",
]);

export const ls = spec({
  path: ["notifications", "ls"],
  summary: "List what you were notified of, the newest first",
  about: ["Of all your projects. What is over, such as a question that was answered, counts as read."],
  args: [],
  flags: {
    unread: { kind: "boolean", summary: "Only the unread ones" },
    limit: { kind: "integer", value: "n", min: 1, max: 200, summary: "At most this many; 50 by default" },
  },
  fields: FIELDS,
  examples: [
    ["svc notifications ls --unread", "What is unread"],
    ["svc notifications ls --unread --jq '.[].url'", "The pages of the unread ones"],
  ],
});

export const read = spec({
  path: ["notifications", "read"],
  summary: "Mark notifications as read",
  args: [
    { name: "notification", summary: "Their ids, or the beginnings of them; all without any", many: true },
  ],
  flags: {},
  fields: ["unread"],
  examples: [
    ["svc notifications read 1f3a", "Mark one"],
    ["svc notifications read", "Mark all"],
  ],
});

export const set = spec({
  path: ["notifications", "set"],
  guesses: ["settings", "config"],
  summary: "Choose how you are notified of an event, or show what you have chosen",
  about: [
    "The ways: `page` (the list of the dashboard and of svc notifications ls), `push` (the browsers in which you switched it on, under Settings in the dashboard) and `email`. By default, you are notified of sessions that wait for you, in the page and by push.",
    "It concerns the sessions that you started, and the change requests that you opened or that came of your sessions.",
  ],
  args: [
    { name: "event", summary: "The event to change", choices: NOTIFICATION_EVENTS },
    { name: "ways", summary: "Comma-separated ways, or `none`" },
  ],
  flags: {},
  fields: ["choices", "email", "email_problem", "push_key", "browsers"],
  examples: [
    ["svc notifications set", "Show what you have chosen"],
    ["svc notifications set check.failed page,email", "Also by e-mail"],
    ["svc notifications set session.done none", "Not at all"],
  ],
});

export const notifications: Group = {
  name: "notifications",
  summary: "What you are notified of, and how",
  commands: [
    bind(ls, () => import("../commands/notifications/ls.ts").then((module) => module.ls)),
    bind(read, () => import("../commands/notifications/read.ts").then((module) => module.read)),
    bind(set, () => import("../commands/notifications/set.ts").then((module) => module.set)),
  ],
};
