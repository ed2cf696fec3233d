import { Elysia } from "elysia";
import { accepted } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { createWebhooks } from "./webhook.ts";

/** Whoever holds the secret of a trigger calls it: no token of svc's is asked for. */
export const webhookRoutes = (deps: Deps) => {
  const take = createWebhooks(deps);
  return new Elysia({ prefix: "/webhooks", tags: ["triggers"] }).post(
    "/projects/:project/:slug",
    ({ request, params, set }) => {
      set.status = 202;
      return take(request, params);
    },
    answer(202, accepted),
  );
};
