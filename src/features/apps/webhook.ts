import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps } from "../../../db/schema/index.ts";
import type { WebhookEvent } from "../../contract/webhook-event.ts";
import type { Deps } from "../../deps.ts";
import { namesOf } from "../../identity/auth/actor.ts";
import { recordWebhookEvent } from "../webhooks/record.ts";
import { originOf } from "./site.ts";
import { deploymentToWire } from "./wire.ts";

type Event = Extract<WebhookEvent, `deployment.${string}`>;

/** Records the event of a deployment's new state, in the transaction that makes the change and before `publish`. */
export async function recordDeploymentEvent(
  deps: Pick<Deps, "config" | "api" | "clock">,
  tx: Db,
  deploymentId: string,
  type: Event,
): Promise<void> {
  const [found] = await tx
    .select({ app: apps, deployment: appDeployments })
    .from(appDeployments)
    .innerJoin(apps, eq(apps.appId, appDeployments.appId))
    .where(eq(appDeployments.deploymentId, deploymentId));
  if (!found) return;
  const { app, deployment } = found;
  await recordWebhookEvent(tx, app.projectId, { type, at: deps.clock() }, async () => ({
    app: {
      app_id: app.appId,
      slug: app.slug,
      change_request: app.crNumber,
      name: app.entry.name,
      url: `${originOf(deps, app.label)}/`,
    },
    deployment: deploymentToWire(deployment, await namesOf(tx, [deployment.createdBy])),
  }));
}
