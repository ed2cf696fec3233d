/** The events that a webhook can subscribe to. */
export const WEBHOOK_EVENTS = [
  "cr.opened",
  "cr.updated",
  "cr.merged",
  "cr.closed",
  "cr.commented",
  "cr.approved",
  "cr.changes_requested",
  "cr.review_requested",
  "check.pending",
  "check.succeeded",
  "check.failed",
  "session.started",
  "session.waiting",
  "session.finished",
  "session.failed",
  "deployment.started",
  "deployment.live",
  "deployment.failed",
  "deployment.stopped",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Characters of a webhook's URL. */
export const WEBHOOK_URL_MAX = 2_048;
