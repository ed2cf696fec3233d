import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  createWebhookBody,
  delivery,
  deliveryWithPayload,
  editWebhookBody,
  webhook,
  webhookWithSecret,
} from "../../contract/webhook.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { createWebhook } from "./create.ts";
import { getDelivery, listDeliveries, redeliver, testWebhook } from "./deliveries.ts";
import { deleteWebhook, editWebhook } from "./edit.ts";
import { getWebhook, listWebhooks } from "./list.ts";

const ids = { projectId: Type.String(), webhookId: uuidParam };
const one = { project: "manage", params: Type.Object(ids) } as const;
const oneDelivery = {
  project: "manage",
  params: Type.Object({ ...ids, deliveryId: uuidParam }),
} as const;

/** The webhooks of a project, which receive its events. Those that start triggers are the triggers' own. */
export const projectWebhookRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/webhooks", tags: ["webhooks"] })
    .use(guard(deps))
    .get("", ({ project }) => listWebhooks(deps, project), {
      project: "manage",
      ...answer(200, listOf("webhooks", webhook)),
    })
    .post(
      "",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return createWebhook(deps, caller, project, body);
      },
      { project: "manage", body: createWebhookBody, ...answer(201, webhookWithSecret) },
    )
    .get("/:webhookId", ({ project, params }) => getWebhook(deps, project, params.webhookId), {
      ...one,
      ...answer(200, webhook),
    })
    .patch(
      "/:webhookId",
      ({ caller, project, params, body }) => editWebhook(deps, caller, project, params.webhookId, body),
      {
        ...one,
        body: editWebhookBody,
        ...answer(200, webhookWithSecret),
      },
    )
    .delete(
      "/:webhookId",
      ({ caller, project, params }) => deleteWebhook(deps, caller, project, params.webhookId),
      {
        ...one,
        ...answer(200, ok),
      },
    )
    .post(
      "/:webhookId/test",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return testWebhook(deps, caller, project, params.webhookId);
      },
      { ...one, ...answer(202, delivery) },
    )
    .get(
      "/:webhookId/deliveries",
      ({ project, params, query }) => listDeliveries(deps, project, params.webhookId, readPage(query)),
      { ...one, query: Type.Object(pageQuery), ...answer(200, listOf("deliveries", delivery)) },
    )
    .get("/:webhookId/deliveries/:deliveryId", ({ project, params }) => getDelivery(deps, project, params), {
      ...oneDelivery,
      ...answer(200, deliveryWithPayload),
    })
    .post(
      "/:webhookId/deliveries/:deliveryId/redeliver",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return redeliver(deps, caller, project, params);
      },
      { ...oneDelivery, ...answer(202, delivery) },
    );
