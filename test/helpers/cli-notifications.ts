import type { Notification, NotificationSettings, Notifications } from "../../src/contract/notification.ts";

export const NOTIFICATION_ID = "99999999-9999-4999-8999-999999999999";

const notification: Notification = {
  notification_id: NOTIFICATION_ID,
  event: "session.waiting",
  project_id: "11111111-1111-4111-8111-111111111111",
  project_slug: "shop",
  project_name: "Shop",
  session_id: "1a2b3c4d-1a2b-4a2b-8a2b-1a2b3c4d5e6f",
  change_request: null,
  app: null,
  title: "Fix the login",
  text: "Which one?",
  url: "https://svc.example.com/projects/shop/sessions/1a2b3c4d-1a2b-4a2b-8a2b-1a2b3c4d5e6f",
  read_at: null,
  created_at: "2026-11-20T10:00:00.000Z",
};

const settings: NotificationSettings = {
  choices: [
    { event: "session.waiting", ways: ["page", "push"] },
    { event: "session.done", ways: [] },
  ],
  email: "ada@example.com",
  email_problem: null,
  push_key: "BCVxsr7N",
  browsers: [],
};

/** A server's responses about notifications. */
export const NOTIFICATION_ROUTES = {
  "GET /accounts/notifications": (): Notifications => ({ notifications: [notification], unread: 1 }),
  "POST /accounts/notifications/read": () => ({ unread: 0 }),
  "GET /accounts/notifications/settings": () => settings,
  "PATCH /accounts/notifications/settings": () => settings,
};
