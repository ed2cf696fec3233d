import postgres from "postgres";
import { createKeys } from "../../src/keys.ts";

/**
 * A program that lists change requests without svc: a bare `Bun.serve` with the same queries, driver, number of
 * connections and JSON response. Reads DATABASE_URL, SVC_MASTER_KEY and SVC_PUBLIC_URL; prints its URL.
 */
const POOL_SIZE = 9;

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: POOL_SIZE, fetch_types: false });
const keys = createKeys(Buffer.from(process.env["SVC_MASTER_KEY"] ?? "", "hex"));
const PATH = /^\/v1\/projects\/([^/]+)\/change-requests$/;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const url = new URL(request.url);
    const projectId = PATH.exec(url.pathname)?.[1] ?? "";
    const hash = keys.hashToken((request.headers.get("authorization") ?? "").replace("Bearer ", ""));
    const [caller] = await sql`
      select t.token_id, t.user_id, t.project_id as token_project_id, t.session_id, t.hash, t.expires_at,
        t.last_used_at, p.*, m.role
      from tokens t
      left join projects p on p.project_id = ${projectId}
      left join account_members m on m.account_id = p.account_id and m.user_id = t.user_id
      where t.hash = ${hash}`;
    if (!caller?.["role"]) return new Response(null, { status: 403 });
    const limit = Number(url.searchParams.get("limit"));
    const rows = await sql`
      select *, exists (select 1 from merge_intents i where i.cr_id = c.cr_id) as has_intents
      from change_requests c
      where c.project_id = ${projectId} and c.status = ${url.searchParams.get("status")}
      order by c.number desc limit ${limit + 1}`;
    const page = rows.slice(0, limit);
    const approvals = await sql`
      select a.cr_id, a.user_id, u.name, a.head_commit_sha, a.state, a.body, a.created_at
      from change_request_approvals a
      join users u on u.user_id = a.user_id
      join account_members m on m.account_id = ${caller["account_id"]} and m.user_id = a.user_id
      where a.cr_id in ${sql(page.map(({ cr_id }) => cr_id))}
      order by a.created_at, a.user_id`;
    await findNone(page, projectId, caller["account_id"]);
    const reverts = await sql`
      select reverts, number from change_requests
      where project_id = ${projectId} and reverts in ${sql(page.map(({ number }) => number))} and status <> 'closed'`;
    const userIds = page.flatMap((row) => [row["created_by"], row["merged_by"], row["closed_by"]]);
    const users = await sql`
      select user_id, name from users where user_id in ${sql([...new Set(userIds.filter(Boolean))])}`;
    const author = (userId: string | null) =>
      userId && {
        user_id: userId,
        name: users.find(({ user_id }) => user_id === userId)?.["name"],
        kind: "user",
        session_id: null,
      };
    return Response.json({
      change_requests: page.map(({ has_intents, last_comment_number, checked_sha, ...columns }) => {
        const { created_actor, merged_actor, closed_actor, owners_sha, ...row } = columns;
        return {
          ...row,
          author: author(row["created_by"]),
          url: `${process.env["SVC_PUBLIC_URL"]}/projects/${caller["slug"]}/change-requests/${row["number"]}`,
          opened_by_session_id: null,
          // they are not open
          mergeable: null,
          stale: false,
          merger: author(row["merged_by"]),
          closer: author(row["closed_by"]),
          approvals: approvals
            .filter(({ cr_id }) => cr_id === row["cr_id"])
            .map(({ cr_id: _, ...approval }) => ({
              ...approval,
              counts: approval["head_commit_sha"] === row["head_commit_sha"],
            })),
          // they are not open
          auto_merge: null,
          open_threads: 0,
          labels: [],
          assignees: [],
          requested_reviewers: [],
          reverted_by: reverts.find(({ reverts }) => reverts === row["number"])?.["number"] ?? null,
          queue: null,
          merge_queue: false,
          required_approvals: caller["required_approvals"],
          code_owner_reviews: null,
          // this driver reads no types of arrays
          merge_methods: String(caller["merge_methods"]).slice(1, -1).split(","),
          checks: { state: "none", total: 0, passed: 0, failed: 0, pending: 0, required: [] },
          // of sessions, which these change requests do not come from
          cost: null,
          tokens: { input: 0, output: 0, cached: 0 },
        };
      }),
    });
  },
});
process.stdout.write(`${server.url.origin}\n`);

/** Queries for what these change requests do not have: statuses, labels, people and open threads. */
async function findNone(rows: readonly postgres.Row[], projectId: string, accountId: string): Promise<void> {
  const crIds = rows.map((row) => row["cr_id"]);
  await sql`
    select sha, context, state from commit_statuses
    where project_id = ${projectId} and sha in ${sql(rows.map((row) => row["head_commit_sha"]))}`;
  await sql`
    select c.cr_id, l.name, l.color from change_request_labels c
    join labels l on l.label_id = c.label_id
    where c.cr_id in ${sql(crIds)} order by l.key`;
  await sql`
    select p.cr_id, p.part, p.user_id, u.name from change_request_people p
    join users u on u.user_id = p.user_id
    join account_members m on m.account_id = ${accountId} and m.user_id = p.user_id
    where p.cr_id in ${sql(crIds)} order by p.since, u.name, p.user_id`;
  await sql`
    select cr_id, count(*) from change_request_comments
    where reply_to is null and resolved_at is null and cr_id in ${sql(crIds)} group by cr_id`;
}
