import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { projectSecrets, projects, triggers } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import { type Accepted, WEBHOOK_MAX_BYTES } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { readBounded, refuseLarger } from "../../http/body.ts";
import { addressOf, countAttempt, type Limit } from "../../identity/auth/attempts.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { createCache } from "../../lib/cache.ts";
import { createGate, type GateLimits } from "../../lib/gate.ts";
import { purposeOf } from "../secrets/row.ts";
import { addFiring, tooMany } from "./firing.ts";
import type { TriggerRow } from "./row.ts";
import { webhookPrompt } from "./webhook-prompt.ts";

/** The same body counts as the same delivery for this long, and for twice that at most. */
const REPLAY_MS = 10 * 60_000;
/** Wrong signatures from one address: setting up a webhook takes a few tries. */
const WRONG: Limit = { name: "webhook signature", max: 30, windowS: 60 };
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** A trigger is cached this long, so that a burst of webhooks reads it once. */
const KNOWN_MS = 1_000;
const KNOWN_MAX = 1_000;
/** A project with too many waiting firings is not checked again for this long. */
const FULL_MS = 500;
/** Webhooks that are recorded at a time, and that wait for it: the other database connections stay free. */
export const WEBHOOK_WRITING: GateLimits = {
  total: 4,
  perKey: 3,
  queue: 500,
  queuePerKey: 250,
  waitMs: 5_000,
};

interface Found {
  trigger: TriggerRow;
  project: ProjectRow;
  sealed: string | null;
}

type WebhookDeps = Pick<Deps, "db" | "keys" | "clock" | "monotonic" | "databaseTime" | "changes">;

type WebhookHandler = (request: Request, address: { project: string; slug: string }) => Promise<Accepted>;

/**
 * Creates the handler of webhooks (contract: Manifest). A firing is recorded before the response; the first server to
 * see it creates the session. A caller without a valid signature learns only whether the webhook exists, and costs one
 * cached query; the body, which is bounded, is read only if there is a signature.
 * @returns a handler that throws not_found (also for a trigger that is disabled or not a webhook), secret_missing,
 * payload_too_large, unauthorized, rate_limited
 */
export function createWebhookHandler(deps: WebhookDeps, writing = WEBHOOK_WRITING): WebhookHandler {
  const lookUp = createCache<Found>({ keepMs: KNOWN_MS, max: KNOWN_MAX }, ({ sealed }) => sealed !== null);
  const limit = createGate(writing, "webhooks");
  /** Project → until when its limit counts as reached (`deps.monotonic`). */
  const full = new Map<string, number>();

  return async (request, { project: id, slug }) => {
    const found = await lookUp(`${id} ${slug}`, () => find(deps, id, slug));
    const body = await readSigned(deps, request, found);
    if ((full.get(id) ?? 0) > deps.monotonic()) throw tooMany();
    try {
      return await limit(id, () => recordFiring(deps, request.headers, body, found));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (error.code !== "rate_limited" && error.code !== "unavailable") throw error;
      if (full.size >= KNOWN_MAX) full.clear();
      // `unavailable` is the gate's queue, which drains quickly; waiting firings do not
      if (error.code === "rate_limited") full.set(id, deps.monotonic() + FULL_MS);
      throw tooMany();
    }
  };
}

/** Reads the body, and verifies its signature. */
async function readSigned(
  deps: WebhookDeps,
  request: Request,
  { trigger, project, sealed }: Found,
): Promise<Uint8Array> {
  refuseLarger(request, WEBHOOK_MAX_BYTES);
  if (sealed === null) {
    throw new SvcError(
      "secret_missing",
      "The project does not have the secret that signs this webhook. A user of the project must set the secret that the trigger's secret_env names.",
    );
  }
  const secret = deps.keys.open(project.projectId, purposeOf(trigger.secretEnv ?? ""), sealed);
  const signature = signatureOf(request.headers);
  const body = signature && (await readBounded(request, WEBHOOK_MAX_BYTES));
  if (!body || !signature || !isSigned(secret, body, signature)) {
    await countAttempt(deps, WRONG, addressOf(request));
    throw unsigned();
  }
  return body;
}

async function recordFiring(
  deps: WebhookDeps,
  headers: Headers,
  body: Uint8Array,
  { trigger, project }: Found,
): Promise<Accepted> {
  const now = await deps.databaseTime(deps.db);
  const sessionId = randomUUID();
  const key = keyOf(body, now);
  const prompt = webhookPrompt(project, trigger, { headers, body, now });
  const firing = await addFiring(deps.db, trigger, project, {
    key: key.now,
    earlierKey: key.before,
    source: "webhook",
    sessionId,
    prompt,
    now,
  });
  deps.changes.notify("trigger");
  return { status: "accepted", session_id: firing.sessionId ?? sessionId };
}

async function find(deps: WebhookDeps, id: string, slug: string): Promise<Found> {
  const isIt = and(eq(triggers.projectId, id), eq(triggers.slug, slug));
  const ofTrigger = and(
    eq(projectSecrets.projectId, triggers.projectId),
    eq(projectSecrets.name, triggers.secretEnv),
  );
  const [found] =
    UUID.test(id) && !slug.includes("\0")
      ? await deps.db
          .select({ trigger: triggers, project: projects, sealed: projectSecrets.value })
          .from(triggers)
          .innerJoin(projects, eq(projects.projectId, triggers.projectId))
          .leftJoin(projectSecrets, ofTrigger)
          .where(isIt)
      : [];
  if (found?.trigger.enabled && found.trigger.type === "webhook") return found;
  throw new SvcError(
    "not_found",
    "This project has no webhook trigger at this address. The addresses are in: svc triggers info <slug>",
  );
}

/** Null: there is none, or its format is wrong. */
function signatureOf(headers: Headers): Buffer | null {
  const text = headers.get("x-svc-signature") ?? headers.get("x-hub-signature-256") ?? "";
  const [, hex] = SIGNATURE.exec(text) ?? [];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

function isSigned(secret: string, body: Uint8Array, signature: Buffer): boolean {
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), signature);
}

/**
 * The key that recognizes a delivery that is sent again: its body, in this time window or the one before. Ids in
 * headers do not count, since they are not signed.
 */
function keyOf(body: Uint8Array, now: Date): { now: string; before: string } {
  const digest = createHash("sha256").update(body).digest("base64url");
  const window = Math.floor(now.getTime() / REPLAY_MS);
  return { now: `body ${digest} ${window}`, before: `body ${digest} ${window - 1}` };
}

function unsigned(): SvcError {
  return new SvcError(
    "unauthorized",
    "The signature is missing or wrong. Send X-Svc-Signature: sha256=<hex>, the HMAC-SHA256 of the body under the secret.",
  );
}
