import { type Static, Type } from "@sinclair/typebox";
import { app, deployment } from "./app.ts";
import { author } from "./author.ts";
import { changeRequest } from "./change-request.ts";
import { comment } from "./comment.ts";
import { commitStatus } from "./commit-status.ts";
import { promptChange } from "./prompt.ts";
import { nullable, oneOf } from "./schema.ts";
import { session } from "./session.ts";
import { WEBHOOK_EVENTS, WEBHOOK_URL_MAX } from "./webhook-event.ts";

/** The type of the event that `POST …/test` sends, which every webhook gets. */
export const TEST_EVENT = "webhook.test";

/** `json`: the event. `text`: `{"text": "…"}`, as the incoming webhooks of Slack and Mattermost take it. */
export const WEBHOOK_FORMATS = ["json", "text"] as const;
export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

/** Webhooks of one project. */
export const WEBHOOKS_MAX = 20;
/** A text in an event, in characters; longer ones are cut. */
export const WEBHOOK_TEXT_MAX = 8_192;
/** Entries of a list in an event. */
export const WEBHOOK_LIST_MAX = 100;
/** Of a receiver's answer, in bytes. */
export const WEBHOOK_RESPONSE_MAX_BYTES = 1_024;

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });

/** A webhook as it crosses the wire: without its secret. */
export const webhook = Type.Object({
  webhook_id: uuid,
  project_id: uuid,
  url: Type.String(),
  events: Type.Array(oneOf(WEBHOOK_EVENTS)),
  format: oneOf(WEBHOOK_FORMATS),
  enabled: Type.Boolean(),
  disabled_reason: nullable(Type.String({ description: "Why svc disabled it, as a sentence" })),
  failing_since: nullable(
    Type.String({ format: "date-time", description: "Since when no delivery has succeeded" }),
  ),
  author: nullable(author),
  created_at: time,
  updated_at: time,
});
export type Webhook = Static<typeof webhook>;

/** Answer of the requests that make a secret, which is shown only there. */
export const webhookWithSecret = Type.Composite([
  webhook,
  Type.Object({ secret: Type.Optional(Type.String({ description: "Shown once" })) }),
]);
export type WebhookWithSecret = Static<typeof webhookWithSecret>;

const url = Type.String({ minLength: 1, maxLength: WEBHOOK_URL_MAX, description: "An https:// URL" });
const events = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: 2 * WEBHOOK_EVENTS.length,
  description: `${WEBHOOK_EVENTS.join(", ")}; cr.*, session.*, deployment.* and * stand for several`,
});

/** Body of `POST /v1/projects/:id/webhooks`. */
export const createWebhookBody = Type.Object({
  url,
  events: Type.Optional(events),
  secret: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "whsec_ and 24 to 64 bytes in base64; made by svc if left out",
    }),
  ),
  format: Type.Optional(oneOf(WEBHOOK_FORMATS)),
});
export type CreateWebhookBody = Static<typeof createWebhookBody>;

/** Body of `PATCH /v1/projects/:id/webhooks/:wid`. */
export const editWebhookBody = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    format: Type.Optional(oneOf(WEBHOOK_FORMATS)),
    enabled: Type.Optional(Type.Boolean()),
    rotate_secret: Type.Optional(Type.Literal(true, { description: "Makes a new secret at once" })),
  },
  { minProperties: 1 },
);
export type EditWebhookBody = Static<typeof editWebhookBody>;

/** A delivery of one event to one webhook. */
export const delivery = Type.Object({
  delivery_id: uuid,
  webhook_id: uuid,
  event_id: Type.String({ description: "The webhook-id header: the same in every attempt and redelivery" }),
  type: Type.String(),
  status: oneOf(DELIVERY_STATUSES),
  redelivery: Type.Boolean(),
  attempts: Type.Integer(),
  status_code: nullable(Type.Integer({ description: "Of the last attempt's answer" })),
  duration_ms: nullable(Type.Integer({ description: "Of the last attempt" })),
  response: nullable(
    Type.String({ description: `The first ${WEBHOOK_RESPONSE_MAX_BYTES} bytes of that answer` }),
  ),
  error: nullable(Type.String({ description: "Why it failed, or the last attempt, as a sentence" })),
  created_at: time,
  attempted_at: nullable(time),
  next_attempt_at: nullable(time),
});
export type Delivery = Static<typeof delivery>;

/** Answer of `GET …/deliveries/:did`: with the event that is sent. */
export const deliveryWithPayload = Type.Composite([delivery, Type.Object({ payload: Type.Unknown() })]);
export type DeliveryWithPayload = Static<typeof deliveryWithPayload>;

const project = Type.Object({ project_id: uuid, slug: Type.String(), name: Type.String() });
const cut = Type.Optional(
  Type.Array(Type.String(), { description: "Paths of texts and lists that were cut, such as comment.body" }),
);
const about = (fields: Parameters<typeof Type.Object>[0]) =>
  Type.Object({ project, ...fields, truncated: cut });

/** The body of a delivery in the format `json`, by the type of its event. */
export const webhookPayload = Type.Object({
  type: Type.String(),
  timestamp: Type.String({ format: "date-time", description: "When it happened" }),
  data: Type.Union([
    about({
      change_request: changeRequest,
      comment: Type.Optional(comment),
      comments: Type.Optional(
        Type.Array(comment, {
          description: "Those of a review, which is one event; the first is also `comment`",
        }),
      ),
    }),
    about({
      session,
      waiting_for: Type.Optional(Type.Literal("prompt")),
      prompt: Type.Optional(promptChange),
    }),
    about({ app: Type.Pick(app, ["app_id", "slug", "name", "url"]), deployment }),
    about({ status: commitStatus, change_requests: Type.Array(Type.Integer()) }),
    about({ webhook_id: uuid }),
  ]),
});
