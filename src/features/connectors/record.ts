import { and, desc, eq, lt, sql } from "drizzle-orm";
import { connectorCalls } from "../../../db/schema/index.ts";
import type { CallOutcome, ConnectorCall, PolicyAction } from "../../contract/connector.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { actorOf, authorOf, namesOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { CALL_MS, CALLS_KEPT } from "./limits.ts";

/** Characters of a subject and of an error in the record. */
const TOOL_MAX = 300;
const ERROR_MAX = 500;

export interface CallStart {
  connector: string;
  /** The tool or the request. */
  tool: string;
  action: PolicyAction;
  outcome: CallOutcome;
  error?: string;
}

/** Records a call before anything is sent, so that it is there even if the server is killed. Old ones are deleted. */
export async function recordCall(
  { db, clock }: Pick<Deps, "db" | "clock">,
  caller: Caller,
  { projectId }: ProjectRow,
  { tool, error, ...call }: CallStart,
): Promise<string> {
  const { seq } = connectorCalls;
  const ofProject = eq(connectorCalls.projectId, projectId);
  const [row] = await db
    .insert(connectorCalls)
    .values({
      ...call,
      projectId,
      tool: storableText(tool, TOOL_MAX),
      error: error === undefined ? null : storableText(error, ERROR_MAX),
      userId: caller.userId,
      actor: actorOf(caller),
      createdAt: clock(),
    })
    .returning({ callId: connectorCalls.callId });
  if (!row) throw new Error("the insert of a call returned no row");
  const oldest = db
    .select({ seq })
    .from(connectorCalls)
    .where(ofProject)
    .orderBy(desc(seq))
    .offset(CALLS_KEPT)
    .limit(1);
  await db.delete(connectorCalls).where(and(ofProject, sql`${seq} <= (${oldest})`));
  return row.callId;
}

/** Records how a call ended. @param error a sentence; null: it succeeded */
export async function recordEnd(
  { db }: Deps,
  callId: string,
  ms: number,
  error: string | null,
): Promise<void> {
  await db
    .update(connectorCalls)
    .set({
      outcome: error === null ? "ok" : "failed",
      error: error === null ? null : storableText(error, ERROR_MAX),
      durationMs: Math.round(ms),
    })
    .where(eq(connectorCalls.callId, callId));
}

/** A text of a connector or an agent, cut. Postgres cannot hold NUL. */
export function storableText(text: string, max: number): string {
  return text.slice(0, max).toWellFormed().replaceAll("\0", "\ufffd");
}

const SEQ_CURSOR = /^[1-9]\d{0,14}$/;

/** The calls of a project's connectors, newest first. */
export async function listCalls(
  { db, clock }: Deps,
  { projectId }: ProjectRow,
  { limit, cursor }: Page,
): Promise<{ calls: ConnectorCall[]; next_cursor?: string }> {
  const before = readCursor(cursor, SEQ_CURSOR);
  const { seq } = connectorCalls;
  const found = await db
    .select()
    .from(connectorCalls)
    .where(
      and(eq(connectorCalls.projectId, projectId), before === null ? undefined : lt(seq, Number(before))),
    )
    .orderBy(desc(seq))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => String(row.seq));
  const names = await namesOf(
    db,
    rows.map(({ userId }) => userId),
  );
  const late = clock().getTime() - 2 * CALL_MS;
  const calls = rows.map((row) => ({
    call_id: row.callId,
    connector: row.connector,
    tool: row.tool,
    action: row.action,
    outcome: row.outcome === "running" && row.createdAt.getTime() < late ? "interrupted" : row.outcome,
    error: row.error,
    author: row.userId === null ? null : authorOf(names, row.userId, row.actor),
    duration_ms: row.durationMs,
    created_at: row.createdAt.toISOString(),
  }));
  return { calls, ...next };
}
