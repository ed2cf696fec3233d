import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { sessionSandboxes } from "../../../db/schema/index.ts";
import type { SessionStatus } from "../../contract/session.ts";
import type { WebhookEvent } from "../../contract/webhook-event.ts";
import type { Deps } from "../../deps.ts";
import { spentBySessions } from "../models/spent.ts";
import type { RunRow } from "../runs/row.ts";
import { recordWebhookEvent } from "../webhooks/record.ts";
import { countOpen } from "./prompts/open.ts";
import { changesToWire, type PromptRow } from "./prompts/wire.ts";
import { sessionRow } from "./row.ts";
import { toWire } from "./wire.ts";

type Shown = Pick<Deps, "config" | "sandboxes">;

const UNFINISHED = ["server", "waiting"] as const;
const EVENTS: Partial<Record<SessionStatus, WebhookEvent>> = {
  running: "session.started",
  stopped: "session.finished",
  failed: "session.failed",
};

/**
 * Records the event of a session's new status, in the transaction that makes the change and before `publish`. A session
 * that stops with its server, which starts it again, or until its question is answered, has not finished.
 */
export async function recordStatusEvent(deps: Shown, tx: Db, run: RunRow): Promise<void> {
  const type = EVENTS[run.status];
  if (!type || (run.status === "stopped" && UNFINISHED.some((reason) => reason === run.stopReason))) return;
  const event = { type, at: run.updatedAt };
  await recordWebhookEvent(tx, run.projectId, event, () => sessionIn(deps, tx, run.runId));
}

/** Records that the agent waits for a person: it has ended its last queued prompt. In the transaction of that end. */
export async function recordWaiting(deps: Shown, tx: Db, prompt: PromptRow, at: Date): Promise<void> {
  const { sessionId } = prompt;
  const session = await sessionRow(tx, sessionId);
  if (!session || (await countOpen(tx, sessionId)) > 0) return;
  await recordWebhookEvent(tx, session.projectId, { type: "session.waiting", at }, async () => {
    const [shown] = await changesToWire(tx, [prompt]);
    return { ...(await sessionIn(deps, tx, sessionId)), waiting_for: "prompt", prompt: shown };
  });
}

/** Records that the agent waits for a person to answer. In the transaction that stores that. */
export async function recordAsked(
  deps: Shown,
  tx: Db,
  { sessionId, projectId, kind, at }: { sessionId: string; projectId: string; kind: string; at: Date },
): Promise<void> {
  await recordWebhookEvent(tx, projectId, { type: "session.waiting", at }, async () => {
    return { ...(await sessionIn(deps, tx, sessionId)), waiting_for: kind, prompt: null };
  });
}

async function sessionIn(deps: Shown, tx: Db, sessionId: string): Promise<Record<string, unknown>> {
  const session = await sessionRow(tx, sessionId);
  if (!session) throw new Error("a run has no session");
  const [sandbox] = await tx.select().from(sessionSandboxes).where(eq(sessionSandboxes.runId, sessionId));
  const spent = (await spentBySessions(tx, [sessionId])).get(sessionId) ?? null;
  return { session: await toWire({ ...deps, db: tx }, { session, sandbox: sandbox ?? null, spent }) };
}
