import { and, eq, lt, notExists, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelCalls, modelSpend, projectSessions } from "../../../db/schema/index.ts";
import type { TokensUsed } from "../../contract/usage.ts";
import type { Deps } from "../../deps.ts";
import type { KeyHolder } from "./key.ts";
import { CALL_MS } from "./limits.ts";

type CallRow = typeof modelCalls.$inferSelect;

/** What is known of a call at its end. */
export interface CallEnd {
  state: "complete" | "incomplete";
  upstream: string | null;
  status: number | null;
  tokens: TokensUsed;
  /** US dollars; null if unknown. */
  cost: number | null;
}

/**
 * Records that a call begins, before anything is sent: so it is counted even if the server is killed.
 * @param estimate the cost of its prompt, which counts until the call ends
 */
export async function beginCall(
  { db, serverId, clock }: Deps,
  { budgets: _, ...holder }: KeyHolder,
  model: string,
  estimate: number | null,
): Promise<string> {
  const [row] = await db
    .insert(modelCalls)
    .values({ ...holder, serverId, model, cost: estimate, startedAt: clock() })
    .returning({ callId: modelCalls.callId });
  if (!row) throw new Error("the insert of a call returned no row");
  return row.callId;
}

/** Records what a call in progress has used so far, in case that the server is killed. */
export async function noteTokens({ db }: Deps, callId: string, tokens: TokensUsed): Promise<void> {
  await db
    .update(modelCalls)
    .set(tokens)
    .where(and(eq(modelCalls.callId, callId), eq(modelCalls.state, "open")));
}

/** Records the end of a call, and adds it to the totals. Once it has ended, nothing changes. */
export async function endCall({ db, clock }: Deps, callId: string, end: CallEnd): Promise<void> {
  const { tokens, ...rest } = end;
  await db.transaction(async (tx) => {
    const [row] = await tx
      .update(modelCalls)
      .set({ ...rest, ...tokens, endedAt: clock() })
      .where(and(eq(modelCalls.callId, callId), eq(modelCalls.state, "open")))
      .returning();
    if (row) await addToTotals(tx, row);
  });
}

/** The month of a time, in UTC. */
export function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}

/** In the same order for all calls of an account, so that concurrent ones wait for each other in line. */
async function addToTotals(tx: Db, row: CallRow): Promise<void> {
  const { accountId, projectId, sessionId, startedAt, input, output, cached, cost } = row;
  const month = monthOf(startedAt);
  const scopes = [
    { scope: accountId, period: month },
    ...(projectId === null ? [] : [{ scope: projectId, period: month }]),
    ...(sessionId === null ? [] : [{ scope: sessionId, period: "" }]),
  ];
  for (const scope of scopes) {
    await tx
      .insert(modelSpend)
      .values({ ...scope, accountId, calls: 1, input, output, cached, cost })
      .onConflictDoUpdate({
        target: [modelSpend.scope, modelSpend.period],
        set: {
          calls: sql`${modelSpend.calls} + 1`,
          input: sql`${modelSpend.input} + excluded.input`,
          output: sql`${modelSpend.output} + excluded.output`,
          cached: sql`${modelSpend.cached} + excluded.cached`,
          cost: sql`case when excluded.cost is null then ${modelSpend.cost} else coalesce(${modelSpend.cost}, 0) + excluded.cost end`,
        },
      });
  }
}

/** How long calls are kept, for the usage of the last year; totals are kept longer. */
const KEPT_DAYS = 400;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Records the end of calls that a killed server has left: this server's own, and those that have taken longer than any
 * call may. What the upstream had reported is kept, and the estimated cost. Deletes what is too old.
 */
export async function settleCalls(deps: Deps): Promise<void> {
  const { db, serverId } = deps;
  const now = deps.clock();
  const late = new Date(now.getTime() - 2 * CALL_MS);
  await db.transaction(async (tx) => {
    const rows = await tx
      .update(modelCalls)
      .set({ state: "incomplete", endedAt: now })
      .where(
        and(
          eq(modelCalls.state, "open"),
          or(eq(modelCalls.serverId, serverId), lt(modelCalls.startedAt, late)),
        ),
      )
      .returning();
    for (const row of rows) await addToTotals(tx, row);
  });
  const old = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
  await db.delete(modelCalls).where(lt(modelCalls.startedAt, old));
  const { scope, period } = modelSpend;
  const session = db
    .select({ id: projectSessions.sessionId })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, scope));
  await db.delete(modelSpend).where(and(eq(period, ""), notExists(session)));
}
