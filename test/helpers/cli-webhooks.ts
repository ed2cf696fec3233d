import type {
  Delivery,
  DeliveryWithPayload,
  Webhook,
  WebhookWithSecret,
} from "../../src/contract/webhook.ts";

const TIME = "2026-11-20T10:00:00.000Z";
export const WEBHOOK_ID = "77777777-7777-4777-8777-777777777777";
export const DELIVERY_ID = "88888888-8888-4888-8888-888888888888";

const webhook: Webhook = {
  webhook_id: WEBHOOK_ID,
  project_id: "11111111-1111-4111-8111-111111111111",
  url: "https://example.com/svc",
  events: ["cr.opened", "cr.merged"],
  format: "json",
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  author: null,
  created_at: TIME,
  updated_at: TIME,
};

const delivery: Delivery = {
  delivery_id: DELIVERY_ID,
  webhook_id: WEBHOOK_ID,
  event_id: "msg_1",
  type: "cr.merged",
  status: "delivered",
  redelivery: false,
  attempts: 1,
  status_code: 204,
  duration_ms: 12,
  response: "",
  error: null,
  created_at: TIME,
  attempted_at: TIME,
  next_attempt_at: null,
};

const withSecret = (): WebhookWithSecret => ({ ...webhook, secret: "whsec_c2VjcmV0" });

/** A server's responses about webhooks. */
export const WEBHOOK_ROUTES = {
  "GET /projects/:p/webhooks": () => ({ webhooks: [webhook] }),
  "POST /projects/:p/webhooks": withSecret,
  "PATCH /projects/:p/webhooks/:n": withSecret,
  "DELETE /projects/:p/webhooks/:n": () => ({ ok: true }),
  "POST /projects/:p/webhooks/:n/test": () => delivery,
  "GET /projects/:p/webhooks/:n/deliveries": () => ({ deliveries: [delivery] }),
  [`GET /projects/:p/webhooks/:n/deliveries/${DELIVERY_ID}`]: (): DeliveryWithPayload => ({
    ...delivery,
    payload: {},
  }),
  [`POST /projects/:p/webhooks/:n/deliveries/${DELIVERY_ID}/redeliver`]: () => delivery,
};
