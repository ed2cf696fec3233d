import { Elysia } from "elysia";
import { accepted } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { createWebhookHandler } from "./webhook.ts";

/** Webhooks are authenticated by the signature with the trigger's secret, not by a token. */
export const webhookRoutes = (deps: Deps) => {
  const handle = createWebhookHandler(deps);
  return new Elysia({ prefix: "/webhooks", tags: ["triggers"] }).post(
    "/projects/:project/:slug",
    ({ request, params, set }) => {
      set.status = 202;
      return handle(request, params);
    },
    { detail: { ...answer(202, accepted).detail, ...SIGNED } },
  );
};

/** The signature covers the bytes of the body, whatever they are. */
const SIGNED = {
  parameters: [
    {
      name: "X-Svc-Signature",
      in: "header" as const,
      schema: { type: "string" as const, pattern: "^sha256=[0-9a-f]{64}$" },
      description: "HMAC-SHA256 of the body with the trigger's secret; X-Hub-Signature-256 is accepted, too",
    },
  ],
  requestBody: { content: { "*/*": { schema: { type: "string" as const, format: "binary" } } } },
};
