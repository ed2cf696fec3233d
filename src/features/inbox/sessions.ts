import { and, desc, eq, gt, inArray, ne, type SQL } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import {
  accountMembers,
  changeRequests,
  isOpenSession,
  projectSessions,
  projects,
  runs,
} from "../../../db/schema/index.ts";
import type { BoardSession, InboxItem } from "../../contract/inbox.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { line } from "../notifications/record.ts";
import { waitingText } from "../sessions/notify.ts";
import { openRequest, sessionColumns } from "../sessions/row.ts";
import { titleOf } from "../sessions/title.ts";
import { isOpen, projectOf, sessionUrl } from "./item.ts";
import { READ_MAX, RECENT_DAYS } from "./limits.ts";

const DAY_MS = 86_400_000;

/** The caller's sessions: those that need them, and the board. */
export async function ownSessions(
  deps: Deps,
  userId: string,
): Promise<{ items: InboxItem[]; board: BoardSession[]; truncated: boolean }> {
  const since = new Date(deps.clock().getTime() - RECENT_DAYS * DAY_MS);
  const [open, recent] = await Promise.all([
    read(deps.db, userId, and(isOpenSession(projectSessions), ne(projectSessions.status, "failed"))),
    read(deps.db, userId, gt(projectSessions.updatedAt, since)),
  ]);
  const rows = [...new Map([...open, ...recent].map((row) => [row.session.sessionId, row])).values()];
  const numbers = await openChangeRequests(
    deps.db,
    rows.map(({ session }) => session.sessionId),
  );
  const cards = rows
    .map((row) => cardOf(deps, row, numbers.get(row.session.sessionId) ?? null))
    .sort((one, other) => other.card.since.localeCompare(one.card.since));
  return {
    items: cards.flatMap(({ item }) => item ?? []),
    board: cards.flatMap(({ card, state }) => (state === null ? [] : [{ ...card, state }])),
    truncated: open.length > READ_MAX || recent.length > READ_MAX,
  };
}

type Row = Awaited<ReturnType<typeof read>>[number];

/** A session's card, its place on the board (null: none), and the item that says what it needs. */
function cardOf(deps: Deps, { session, project }: Row, changeRequest: number | null) {
  const { sessionId, status, activity } = session;
  const request = openRequest(session);
  const at = request?.kept
    ? session.keptAt
    : activity !== null && status === "running"
      ? session.activityAt
      : null;
  const card = {
    ...projectOf(project),
    session_id: sessionId,
    change_request: changeRequest,
    title: titleOf(session) ?? `Session ${sessionId.slice(0, 8)}`,
    url: sessionUrl(deps, project, sessionId),
    since: (at ?? session.updatedAt).toISOString(),
  };
  const item = (reason: InboxItem["reason"], text: string): InboxItem => ({
    ...{ reason, ...card, text: line(text) },
    change_request: null,
  });
  const inReview = changeRequest === null ? null : ("review" as const);
  if (request) return { card, state: "waiting" as const, item: item("waiting", waitingText(request)) };
  if (status === "failed") return { card, state: inReview, item: item("failed", session.error ?? "") };
  const isWorking = isAlive(session) && activity !== "idle";
  return { card, state: isWorking ? ("working" as const) : (inReview ?? ("done" as const)), item: null };
}

async function read(db: Db, userId: string, condition: SQL | undefined) {
  return await db
    .select({ session: sessionColumns, project: projects })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .innerJoin(projects, eq(projects.projectId, projectSessions.projectId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, projects.accountId), eq(accountMembers.userId, userId)),
    )
    .where(and(eq(projectSessions.createdBy, userId), condition))
    .orderBy(desc(projectSessions.updatedAt))
    .limit(READ_MAX + 1);
}

/** The numbers of the open change requests of sessions, by session; the newest if it has several. */
async function openChangeRequests(db: Db, sessionIds: readonly string[]): Promise<Map<string, number>> {
  if (sessionIds.length === 0) return new Map();
  const found = await db
    .select({ sessionId: changeRequests.originSessionId, number: changeRequests.number })
    .from(changeRequests)
    .where(and(inArray(changeRequests.originSessionId, [...sessionIds]), isOpen))
    .orderBy(changeRequests.number);
  return new Map(found.flatMap(({ sessionId, number }) => (sessionId === null ? [] : [[sessionId, number]])));
}
