import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { webhooks } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { type CreateWebhookBody, WEBHOOKS_MAX, type WebhookWithSecret } from "../../contract/webhook.ts";
import { WEBHOOK_EVENTS } from "../../contract/webhook-event.ts";
import type { Deps } from "../../deps.ts";
import { requireOutboundUrl } from "../../http/outbound-url.ts";
import { shorten } from "../../http/text.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { lockProject } from "../projects/lock.ts";
import type { WebhookRow } from "./rows.ts";
import { secretPurpose, urlPurpose } from "./seal.ts";
import { checkSecret, makeSecret } from "./signature.ts";
import { toWire } from "./wire.ts";

/**
 * Adds a webhook to a project. The answer has its secret, which is never shown again.
 * @throws validation_failed, url_not_allowed, not_found
 */
export async function createWebhook(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  body: CreateWebhookBody,
): Promise<WebhookWithSecret> {
  const { projectId } = project;
  const url = requireOutboundUrl(deps.config, body.url);
  const events = readEvents(body.events ?? ["*"]);
  const secret = body.secret === undefined ? makeSecret() : checkSecret(body.secret);
  const webhookId = randomUUID();
  const now = deps.clock();
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    if ((await tx.$count(webhooks, eq(webhooks.projectId, projectId))) >= WEBHOOKS_MAX)
      throw new SvcError(
        "validation_failed",
        `The project has ${WEBHOOKS_MAX} webhooks, which is the limit. Remove one with: svc webhooks rm`,
      );
    const [row] = await tx
      .insert(webhooks)
      .values({
        webhookId,
        projectId,
        url: deps.keys.seal(projectId, urlPurpose(webhookId), url),
        secret: deps.keys.seal(projectId, secretPurpose(webhookId), secret),
        events,
        format: body.format ?? "json",
        createdBy: caller.userId,
        createdAt: now,
        updatedAt: now,
      })
      .returning();
    if (!row) throw new Error("the insert of a webhook returned no row");
    await audit(tx, caller, { ...webhookEntry(deps, row), action: "webhook.created", project });
    return { ...(await toWire(deps, tx, row)), secret };
  });
}

/** What the audit log has of a webhook: of the URL only the host, since the rest may be secret. */
export function webhookEntry({ keys }: Pick<Deps, "keys">, row: WebhookRow) {
  const { projectId, webhookId, events, isEnabled } = row;
  const url = keys.open(projectId, urlPurpose(webhookId), row.url);
  return { target: new URL(url).host, targetId: webhookId, details: { events, enabled: isEnabled } };
}

/** @returns the events, in the order of the contract, with `cr.*` and the like replaced @throws validation_failed */
export function readEvents(names: readonly string[]): string[] {
  const wanted = new Set<string>();
  for (const name of names) {
    const group = name === "*" ? "" : name.endsWith(".*") ? name.slice(0, -1) : null;
    const found = WEBHOOK_EVENTS.filter((event) =>
      group === null ? event === name : event.startsWith(group),
    );
    if (found.length === 0) throw unknownEvent(name);
    for (const event of found) wanted.add(event);
  }
  return WEBHOOK_EVENTS.filter((event) => wanted.has(event));
}

function unknownEvent(name: string): SvcError {
  const message = `must be of ${WEBHOOK_EVENTS.join(", ")}, cr.*, session.*, deployment.* and *`;
  return new SvcError("validation_failed", `There is no event "${shorten(name)}". Each event ${message}.`, {
    details: [{ path: "events", message }],
  });
}
