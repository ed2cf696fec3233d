import { and, count, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { modelCalls, projectSessions, projects, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { USAGE_ROWS_MAX, type Usage, type UsageGroup, type UsageRow } from "../../contract/usage.ts";
import type { Deps } from "../../deps.ts";
import { resolveAccount } from "../../identity/accounts/membership.ts";
import type { Caller } from "../../identity/auth/caller.ts";

const DAY_MS = 24 * 60 * 60_000;
const DEFAULT_DAYS = 30;

/**
 * What an account's calls have used from `since` (included) until `until` (excluded), by their start. The latest days
 * come first; of the other groups, the most expensive.
 * @throws not_found, forbidden for non-members; validation_failed
 */
export async function readUsage(
  deps: Deps,
  caller: Caller,
  accountId: string,
  query: { group_by?: UsageGroup; since?: string; until?: string },
): Promise<Usage> {
  await resolveAccount(deps.db, caller, accountId);
  const group = query.group_by ?? "day";
  const until = query.until === undefined ? deps.clock() : new Date(query.until);
  const since =
    query.since === undefined ? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(query.since);
  if (since >= until) throw new SvcError("validation_failed", "since must be before until.");
  const within = and(
    eq(modelCalls.accountId, accountId),
    gte(modelCalls.startedAt, since),
    lt(modelCalls.startedAt, until),
  );
  const [rows, [total]] = await Promise.all([
    groupsOf(deps, group, within),
    deps.db.select(SUMS).from(modelCalls).where(within),
  ]);
  if (!total) throw new Error("a sum returned no row");
  return {
    group_by: group,
    since: since.toISOString(),
    until: until.toISOString(),
    usage: rows.slice(0, USAGE_ROWS_MAX),
    total: toWire(total),
    truncated: rows.length > USAGE_ROWS_MAX,
  };
}

/** The groups, and one more than an answer has. */
async function groupsOf({ db }: Deps, group: UsageGroup, within: SQL | undefined): Promise<UsageRow[]> {
  const { key, name } = GROUPS[group];
  const rows = await db
    .select({ key, name, ...SUMS })
    .from(modelCalls)
    .leftJoin(projects, eq(projects.projectId, modelCalls.projectId))
    .leftJoin(projectSessions, eq(projectSessions.sessionId, modelCalls.sessionId))
    .leftJoin(users, eq(users.userId, modelCalls.userId))
    .where(within)
    .groupBy(sql`1`, sql`2`)
    .orderBy(group === "day" ? sql`1 desc` : sql`${SUMS.cost} desc nulls last`, desc(SUMS.calls), sql`1`)
    .limit(USAGE_ROWS_MAX + 1);
  return rows.map((row) => ({ key: row.key, name: row.name, ...toWire(row) }));
}

const nothing = sql<string | null>`null::text`;

const GROUPS: Record<UsageGroup, { key: SQL<string | null>; name: SQL<string | null> }> = {
  day: { key: sql`to_char(${modelCalls.startedAt} at time zone 'UTC', 'YYYY-MM-DD')`, name: nothing },
  project: { key: sql`${modelCalls.projectId}::text`, name: sql`${projects.name}` },
  session: { key: sql`${modelCalls.sessionId}`, name: sql`${projectSessions.name}` },
  user: { key: sql`${modelCalls.userId}::text`, name: sql`${users.name}` },
  model: { key: sql`${modelCalls.model}`, name: nothing },
};

const total = (column: typeof modelCalls.input | typeof modelCalls.output | typeof modelCalls.cached) =>
  sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);

const SUMS = {
  calls: count(),
  incomplete: sql<number>`count(*) filter (where ${modelCalls.state} <> 'complete')`.mapWith(Number),
  unpriced: sql<number>`count(*) filter (where ${modelCalls.cost} is null)`.mapWith(Number),
  input: total(modelCalls.input),
  output: total(modelCalls.output),
  cached: total(modelCalls.cached),
  cost: sql<number | null>`sum(${modelCalls.cost})`.mapWith(modelCalls.cost),
};

type Sums = {
  calls: number;
  incomplete: number;
  unpriced: number;
  cost: number | null;
} & Usage["total"]["tokens"];

function toWire({ calls, incomplete, unpriced, input, output, cached, cost }: Sums): Usage["total"] {
  return { calls, incomplete, unpriced, tokens: { input, output, cached }, cost };
}
