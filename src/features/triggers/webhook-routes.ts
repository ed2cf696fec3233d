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
    answer(202, accepted),
  );
};
