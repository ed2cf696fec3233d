import { and, desc, eq, gt } from "drizzle-orm";
import { connectorAsks } from "../../../db/schema/index.ts";
import { type AnswerAskBody, ASK_MESSAGE_MAX_BYTES, type ConnectorAsk } from "../../contract/connector.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { storable } from "../../http/text.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import type { AskRow } from "./ask.ts";
import { APPROVAL_MS, ASKS_KEPT } from "./limits.ts";

/** The questions of a project, or of one session, newest first. Their number is limited, so there is one page. */
export async function listAsks(
  deps: Deps,
  { projectId }: ProjectRow,
  { pending, sessionId }: { pending: boolean; sessionId?: string },
): Promise<{ asks: ConnectorAsk[] }> {
  const now = await deps.databaseTime(deps.db);
  const waits = and(eq(connectorAsks.state, "pending"), gt(connectorAsks.expiresAt, now));
  const rows = await deps.db
    .select()
    .from(connectorAsks)
    .where(
      and(
        eq(connectorAsks.projectId, projectId),
        sessionId === undefined ? undefined : eq(connectorAsks.sessionId, sessionId),
        pending ? waits : undefined,
      ),
    )
    .orderBy(desc(connectorAsks.createdAt))
    .limit(ASKS_KEPT);
  return { asks: await allToWire(deps, rows, now) };
}

/**
 * Approves or denies a call. An approval can be used once, within ten minutes.
 * @throws not_found, ask_closed for one that was answered or has expired
 */
export async function answerAsk(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  askId: string,
  { answer, message }: AnswerAskBody,
): Promise<ConnectorAsk> {
  const { projectId } = project;
  const text = message === undefined ? null : storable("message", message, ASK_MESSAGE_MAX_BYTES);
  const isIt = and(eq(connectorAsks.projectId, projectId), eq(connectorAsks.askId, askId));
  return await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    const [ask] = await tx.select().from(connectorAsks).where(isIt).for("update");
    if (!ask)
      throw new SvcError(
        "not_found",
        `The project has no question ${askId}. List those that wait with: svc connectors asks`,
      );
    if (ask.state !== "pending" || ask.expiresAt <= now)
      throw new SvcError(
        "ask_closed",
        `The call of ${ask.tool} is ${stateOf(ask, now)} already. If the agent calls it again, there is a new question.`,
      );
    const isApproved = answer === "approve";
    const [answered] = await tx
      .update(connectorAsks)
      .set({
        state: isApproved ? "approved" : "denied",
        answeredBy: caller.userId,
        message: text,
        ...(isApproved && { expiresAt: new Date(now.getTime() + APPROVAL_MS) }),
      })
      .where(isIt)
      .returning();
    if (!answered) throw new Error("the update of a question returned no row");
    const [shown] = await allToWire({ ...deps, db: tx }, [answered], now);
    if (!shown) throw new Error("a question was left out");
    await audit(tx, caller, {
      action: "connector_ask.answered",
      target: `${ask.connector} ${ask.tool}`,
      targetId: askId,
      project,
      details: { answer, session_id: ask.sessionId },
    });
    await publish(tx, projectId, { type: "connector_ask", id: askId, action: "changed" });
    return shown;
  });
}

const stateOf = ({ state, expiresAt }: AskRow, now: Date): AskRow["state"] =>
  (state === "pending" || state === "approved") && expiresAt <= now ? "expired" : state;

async function allToWire(
  { db }: Pick<Deps, "db">,
  rows: readonly AskRow[],
  now: Date,
): Promise<ConnectorAsk[]> {
  const names = await namesOf(
    db,
    rows.flatMap(({ userId, answeredBy }) => [userId, answeredBy]),
  );
  return rows.map((row) => ({
    ask_id: row.askId,
    connector: row.connector,
    tool: row.tool,
    arguments: row.arguments,
    state: stateOf(row, now),
    session_id: row.sessionId,
    author: row.userId === null ? null : authorOf(names, row.userId, row.actor),
    answered_by: row.answeredBy === null ? null : authorOf(names, row.answeredBy, null),
    message: row.message,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  }));
}
