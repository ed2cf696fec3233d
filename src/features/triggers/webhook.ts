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
import { createGate } from "../../lib/gate.ts";
import { purposeOf } from "../secrets/row.ts";
import { addFiring, tooMany } from "./firing.ts";
import type { TriggerRow } from "./row.ts";
import { outsidePrompt } from "./webhook-prompt.ts";

/** The same body counts as a delivery that comes again for this long: twice that at most. */
const REPLAY_MS = 10 * 60_000;
/** Wrong signatures from one address: whoever sets up a webhook tries a few times. */
const WRONG: Limit = { name: "webhook signature", max: 30, windowS: 60 };
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** What an address holds is known for so long, in milliseconds: a storm of webhooks asks once for all. */
const KNOWN_MS = 1_000;
const KNOWN_MAX = 1_000;
/** A project in which too many wait is not looked at again for so long. */
const FULL_MS = 500;
/** Webhooks that are written down at a time, and that wait to be: connections of the database are left for all others. */
const WRITING = { total: 4, perKey: 3, queue: 500, queuePerKey: 250, waitMs: 5_000 };

interface Found {
  trigger: TriggerRow;
  project: ProjectRow;
  sealed: string | null;
}

/** What webhooks are taken with. */
type Taking = Pick<Deps, "db" | "keys" | "clock" | "databaseTime" | "changes">;

type Take = (request: Request, address: { project: string; slug: string }) => Promise<Accepted>;

/**
 * Takes webhooks (contract: Manifest). The firing is written down before it is answered; its session is made by whoever
 * is first. A stranger learns only what the address holds, and costs one look at it; the body is read, to a bound, of
 * those who bring a signature.
 * @returns what throws not_found (also for a trigger that is disabled or no webhook), secret_missing,
 *   payload_too_large, unauthorized, rate_limited
 */
export function createWebhooks(deps: Taking): Take {
  const know = createCache<Found>({ keepMs: KNOWN_MS, max: KNOWN_MAX }, ({ sealed }) => sealed !== null);
  const write = createGate(WRITING);
  /** Project → until when it counts as full (`Date.now()`). */
  const full = new Map<string, number>();

  return async (request, { project: id, slug }) => {
    const found = await know(`${id} ${slug}`, () => find(deps, id, slug));
    const body = await readSigned(deps, request, found);
    if ((full.get(id) ?? 0) > Date.now()) throw tooMany();
    try {
      return await write(id, () => writeDown(deps, request.headers, body, found));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (error.code !== "rate_limited" && error.code !== "unavailable") throw error;
      if (full.size >= KNOWN_MAX) full.clear();
      // of those that wait to be written down the next may be, of those that wait for a place not
      if (error.code === "rate_limited") full.set(id, Date.now() + FULL_MS);
      throw tooMany();
    }
  };
}

/** The body, which the secret has signed. */
async function readSigned(
  deps: Taking,
  request: Request,
  { trigger, project, sealed }: Found,
): Promise<Uint8Array> {
  refuseLarger(request, WEBHOOK_MAX_BYTES);
  if (sealed === null) {
    throw new SvcError(
      "secret_missing",
      "The project does not have the secret that signs this webhook: whoever looks after it sets the one that secret_env of the trigger names.",
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

async function writeDown(
  deps: Taking,
  headers: Headers,
  body: Uint8Array,
  { trigger, project }: Found,
): Promise<Accepted> {
  const now = await deps.databaseTime(deps.db);
  const sessionId = randomUUID();
  const key = keyOf(body, now);
  const prompt = outsidePrompt(project, trigger, { headers, body, now });
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

async function find(deps: Taking, id: string, slug: string): Promise<Found> {
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
  throw new SvcError("not_found", "There is no such webhook.");
}

/** Null: there is none of a form that could be right. */
function signatureOf(headers: Headers): Buffer | null {
  const text = headers.get("x-svc-signature") ?? headers.get("x-hub-signature-256") ?? "";
  const [, hex] = SIGNATURE.exec(text) ?? [];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

function isSigned(secret: string, body: Uint8Array, signature: Buffer): boolean {
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), signature);
}

/**
 * What makes it the same delivery when it comes again: its body, in this stretch of time or the one before. Ids in headers
 * do not count, since nobody has signed them.
 */
function keyOf(body: Uint8Array, now: Date): { now: string; before: string } {
  const digest = createHash("sha256").update(body).digest("base64url");
  const stretch = Math.floor(now.getTime() / REPLAY_MS);
  return { now: `body ${digest} ${stretch}`, before: `body ${digest} ${stretch - 1}` };
}

function unsigned(): SvcError {
  return new SvcError(
    "unauthorized",
    "The signature is missing or wrong. Send X-Svc-Signature: sha256=<hex>, the HMAC-SHA256 of the body under the secret.",
  );
}
