/** What a person can be notified of. */
export const NOTIFICATION_EVENTS = [
  "session.waiting",
  "session.done",
  "cr.opened",
  "check.failed",
  "cr.commented",
  "cr.approved",
  "cr.changes_requested",
  "cr.dequeued",
  "cr.review_requested",
  "cr.auto_merge_disabled",
  "app.domain_lost",
] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** How: in the list of the dashboard and the CLI, by browser push, or by e-mail. */
export const NOTIFICATION_WAYS = ["page", "push", "email"] as const;
export type NotificationWay = (typeof NOTIFICATION_WAYS)[number];

/** What a person gets who has chosen nothing. Push reaches only the browsers in which they switched it on. */
export const DEFAULT_WAYS: Readonly<Record<NotificationEvent, readonly NotificationWay[]>> = {
  "session.waiting": ["page", "push"],
  "session.done": [],
  "cr.opened": [],
  "check.failed": [],
  "cr.commented": [],
  "cr.approved": [],
  "cr.changes_requested": [],
  "cr.review_requested": ["page", "push"],
  "cr.dequeued": ["page"],
  "cr.auto_merge_disabled": ["page"],
  "app.domain_lost": ["page", "push"],
};

/** An event in words, after the title of what it is about. */
export const NOTIFICATION_VERBS: Readonly<Record<NotificationEvent, string>> = {
  "session.waiting": "waits for you",
  "session.done": "is done",
  "cr.opened": "was opened",
  "check.failed": "has a failed check",
  "cr.commented": "has a new comment",
  "cr.approved": "was approved",
  "cr.changes_requested": "needs changes",
  "cr.review_requested": "needs your review",
  "cr.dequeued": "left the merge queue",
  "cr.auto_merge_disabled": "is no longer merged automatically",
  "app.domain_lost": "has lost its proof",
};

/** Browsers of one person that push is switched on in. */
export const PUSH_BROWSERS_MAX = 20;
/** The last notifications of one person; older ones are removed. */
export const NOTIFICATIONS_KEPT = 200;

/** The path of the service worker that shows pushed notifications. */
export const SERVICE_WORKER = "/service-worker.js";
/** The policy of trusted types by which the dashboard names it. */
export const SERVICE_WORKER_POLICY = "svc-service-worker";
/** The page on which a person chooses. */
export const SETTINGS_PAGE = "/settings";
