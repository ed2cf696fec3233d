import { expect } from "bun:test";
import { openEarlier } from "../helpers/earlier-database.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

/** The last migration of the version without timelines. */
const BEFORE = 57;

needs("a real Postgres", POSTGRES)(
  "the timelines of earlier change requests have what their rows say, in order",
  async () => {
    await using database = await openEarlier(BEFORE);
    const [user, project] = [crypto.randomUUID(), crypto.randomUUID()];
    const [merged, closed] = [crypto.randomUUID(), crypto.randomUUID()];
    const sha = (letter: string) => letter.repeat(40);
    await database.query(`
      insert into users (user_id, email, name) values ('${user}', 'a@b.c', 'a');
      insert into accounts (account_id, name, slug) values ('${user}', 'a', 'a');
      insert into projects (project_id, account_id, name, slug, default_branch)
        values ('${project}', '${user}', 'p', 'p', 'main');
      insert into change_requests (cr_id, account_id, project_id, number, title, base_ref, head_ref, status, created_by,
          opened_by_agent, created_at, merged_at, merged_by, merge_commit_sha, head_commit_sha, base_commit_sha, closed_at, closed_by)
        values ('${merged}', '${user}', '${project}', 1, 't', 'main', 'one', 'merged', '${user}', true, '2026-01-01',
            '2026-01-05', null, '${sha("d")}', '${sha("b")}', '${sha("c")}', null, null),
          ('${closed}', '${user}', '${project}', 2, 't', 'main', 'two', 'closed', '${user}', false, '2026-01-02',
            null, null, null, '${sha("a")}', '${sha("c")}', '2026-01-03', '${user}');
      insert into change_request_heads (cr_id, number, commit_sha, base_commit_sha, seen_at)
        values ('${merged}', 1, '${sha("a")}', '${sha("c")}', '2026-01-01'), ('${merged}', 2, '${sha("b")}', '${sha("c")}', '2026-01-02');
      insert into change_request_approvals (cr_id, user_id, head_commit_sha, state, body, created_at)
        values ('${merged}', '${user}', '${sha("b")}', 'approved', null, '2026-01-04');`);

    await database.migrate();

    const rows = await database.query(
      "select cr_id, event::text, user_id, actor, data from change_request_events order by event_id",
    );
    const none = { user_id: null, actor: null };
    expect(rows).toEqual([
      {
        ...{ cr_id: merged, event: "opened", user_id: user, actor: { kind: "agent", sessionId: null } },
        data: { from: "one", to: "main" },
      },
      { cr_id: closed, event: "opened", user_id: user, actor: null, data: { from: "two", to: "main" } },
      { cr_id: merged, event: "pushed", ...none, data: { from: sha("a"), to: sha("b"), head: 2 } },
      { cr_id: closed, event: "closed", user_id: user, actor: null, data: {} },
      {
        ...{ cr_id: merged, event: "reviewed", user_id: user, actor: null },
        data: { state: "approved", commit_sha: sha("b") },
      },
      { cr_id: merged, event: "merged", ...none, data: { commit_sha: sha("d") } },
    ]);
  },
);
