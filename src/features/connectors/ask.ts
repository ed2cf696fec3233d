import { and, count, desc, eq, gt, lte, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { connectorAsks } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { ASK_ARGUMENTS_MAX, ASK_OPEN_MS, ASKS_KEPT, ASKS_MAX } from "./limits.ts";
import type { ConnectorRow } from "./row.ts";

export type AskRow = typeof connectorAsks.$inferSelect;

/** A call that needs a person's decision. */
export interface AskedCall {
  row: ConnectorRow;
  caller: Caller;
  project: ProjectRow;
  /** The tool or the request, and its arguments as JSON. */
  tool: string;
  args: Record<string, unknown>;
  signal: AbortSignal;
}

/** How often a waiting call reads the answer: a notification can be lost. */
const POLL_MS = 5_000;
/** The predicate of the unique index: a call has one question that is open. */
const IS_OPEN = sql`state in ('pending', 'approved')`;

/**
 * Waits until a person approves the call. Clients end a call after a minute, so the wait is short, and the agent repeats
 * the call: the same arguments of the same caller find the same question.
 * @returns the approved question, for `takeApproval`
 * @throws approval_pending, tool_denied, rate_limited, validation_failed
 */
export async function requireApproval(deps: Deps, call: AskedCall): Promise<AskRow> {
  const json = JSON.stringify(call.args);
  if (json.length > ASK_ARGUMENTS_MAX)
    throw new SvcError(
      "validation_failed",
      `The call needs a person's approval, and its arguments are over ${ASK_ARGUMENTS_MAX} characters, which nobody can review. Make a smaller call.`,
    );
  const digest = digestOf(deps, call, json);
  const deadline = performance.now() + deps.connections.askWaitMs;
  for (;;) {
    const answered = deps.changes.wait("connector_ask", POLL_MS, call.signal);
    const ask = await readOrCreate(deps, call, { digest, json });
    if (ask.state === "approved" && !call.signal.aborted) return ask;
    if (ask.state === "denied") throw denied(call, ask);
    const left = deadline - performance.now();
    if (left <= 0 || call.signal.aborted) throw pending(call, ask);
    await Promise.race([answered, deps.changes.wait([], left, call.signal)]);
  }
}

/**
 * Uses an approval, which is for one call, right before the call is sent.
 * @returns false if it cannot be used: another call has used it, it has expired, or the client has gone
 */
export async function takeApproval(deps: Deps, { askId }: AskRow, signal: AbortSignal): Promise<boolean> {
  return await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    if (signal.aborted) return false;
    const isUsable = and(
      eq(connectorAsks.askId, askId),
      eq(connectorAsks.state, "approved"),
      gt(connectorAsks.expiresAt, now),
    );
    const [taken] = await tx.update(connectorAsks).set({ state: "used" }).where(isUsable).returning();
    if (!taken) return false;
    await publish(tx, taken.projectId, { type: "connector_ask", id: askId, action: "changed" });
    return true;
  });
}

/** Who asks for what, of which address. */
function digestOf({ keys }: Deps, { row, caller, project, tool }: AskedCall, json: string): string {
  const asker = caller.kind === "project" ? (caller.sessionId ?? caller.tokenId) : caller.userId;
  const { slug, type, url, spec, auth } = row;
  const parts = [project.projectId, asker, slug, type, url, spec, auth, tool, json];
  return keys.mac("connector ask", JSON.stringify(parts)).toString("hex");
}

/** The question as it is now. */
async function readOrCreate(
  deps: Deps,
  call: AskedCall,
  { digest, json }: { digest: string; json: string },
): Promise<AskRow> {
  return await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    const isIt = eq(connectorAsks.digest, digest);
    await tx
      .update(connectorAsks)
      .set({ state: "expired" })
      .where(and(isIt, IS_OPEN, lte(connectorAsks.expiresAt, now)));
    // a denial holds for as long as its question would have waited
    const counts = or(IS_OPEN, and(eq(connectorAsks.state, "denied"), gt(connectorAsks.expiresAt, now)));
    const [found] = await tx
      .select()
      .from(connectorAsks)
      .where(and(isIt, counts))
      .orderBy(desc(connectorAsks.createdAt))
      .limit(1);
    return found ?? (await create(tx, call, { digest, json, now }));
  });
}

async function create(
  tx: Db,
  { row, caller, project: { projectId }, tool }: AskedCall,
  { digest, json, now }: { digest: string; json: string; now: Date },
): Promise<AskRow> {
  const ofProject = eq(connectorAsks.projectId, projectId);
  const [waiting] = await tx
    .select({ count: count() })
    .from(connectorAsks)
    .where(and(ofProject, eq(connectorAsks.state, "pending"), gt(connectorAsks.expiresAt, now)));
  if ((waiting?.count ?? 0) >= ASKS_MAX)
    throw new SvcError(
      "rate_limited",
      `${ASKS_MAX} calls of this project wait for a person's approval already. Wait until they are answered.`,
      {},
      { "Retry-After": "60" },
    );
  const oldest = tx
    .select({ at: connectorAsks.createdAt })
    .from(connectorAsks)
    .where(ofProject)
    .orderBy(desc(connectorAsks.createdAt))
    .offset(ASKS_KEPT)
    .limit(1);
  await tx.delete(connectorAsks).where(and(ofProject, sql`${connectorAsks.createdAt} <= (${oldest})`));
  const [made] = await tx
    .insert(connectorAsks)
    .values({
      projectId,
      sessionId: caller.kind === "project" ? caller.sessionId : null,
      userId: caller.userId,
      actor: actorOf(caller),
      connector: row.slug,
      tool,
      arguments: json,
      digest,
      createdAt: now,
      expiresAt: new Date(now.getTime() + ASK_OPEN_MS),
    })
    // the same call at the same time: the question of the other
    .onConflictDoUpdate({
      target: connectorAsks.digest,
      targetWhere: IS_OPEN,
      set: { digest },
    })
    .returning();
  if (!made) throw new Error("the insert of a question returned no row");
  await publish(tx, projectId, { type: "connector_ask", id: made.askId, action: "created" });
  return made;
}

function pending({ row, tool }: AskedCall, { askId, expiresAt }: AskRow): SvcError {
  return new SvcError(
    "approval_pending",
    `A person must approve ${tool} of the connector "${row.slug}", and has not answered yet. Call it again with the same arguments to go on waiting, until ${expiresAt.toISOString()}. A person answers on the page of the session, or with: svc connectors approve ${askId.slice(0, 8)}`,
  );
}

function denied({ row, tool }: AskedCall, { message }: AskRow): SvcError {
  const word = message === null || message === "" ? "" : ` Their message: ${message}`;
  return new SvcError("tool_denied", `A person denied ${tool} of the connector "${row.slug}".${word}`);
}
