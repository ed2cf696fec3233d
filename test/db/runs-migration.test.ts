import { expect } from "bun:test";
import { openEarlier } from "../helpers/earlier-database.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

/** The last migration of the version in which a deployment was a session. */
const BEFORE = 19;
const [STATUSES, GOALS] = [
  ["provisioning", "running", "stopped", "failed"],
  ["running", "stopped", "deleted"],
] as const;

needs("a real Postgres", POSTGRES)(
  "sessions and deployments of the previous version become runs, with all their data",
  async () => {
    await using database = await openEarlier(BEFORE);
    const { query: rows } = database;
    const ids = { user: crypto.randomUUID(), account: crypto.randomUUID(), project: crypto.randomUUID() };
    await rows(`
    insert into users (user_id, email, name) values ('${ids.user}', 'a@b.c', 'a');
    insert into accounts (account_id, name, slug) values ('${ids.account}', 'a', 'a');
    insert into projects (project_id, account_id, name, slug, default_branch)
      values ('${ids.project}', '${ids.account}', 'p', 'p', 'main')`);
    for (const purpose of ["agent", "app"])
      for (const status of STATUSES)
        for (const goal of GOALS) {
          const id = `${purpose} ${status} ${goal}`;
          await rows(`
          insert into project_sessions (session_id, project_id, account_id, purpose, branch_name, base_ref, provider, place,
            status, goal, generation, step, error, stop_reason, worker, worker_until, created_by, created_at, updated_at,
            last_active_at)
          values ('${id}', '${ids.project}', '${ids.account}', '${purpose}', 'b', 'main', 'docker', 'here', '${status}',
            '${goal}', 3, 'clone', 'e', 'idle', 'w', '2026-01-05', '${ids.user}', '2026-01-01', '2026-01-04', '2026-01-02');
          insert into session_sandboxes (session_id, state, service_key_hash, service_key, generation, host, port)
            values ('${id}', 'active', 'hash of ${id}', 'sealed', 3, '/socket', 8000);
          insert into session_log (session_id, source, text) values ('${id}', 'svc', 'a line of ${id}');
          ${
            purpose === "agent"
              ? `insert into tokens (user_id, project_id, session_id, name, hash)
                   values ('${ids.user}', '${ids.project}', '${id}', 't', 'token of ${id}');
                 insert into session_prompts (session_id, prompt_id, number, text, created_by)
                   values ('${id}', '${crypto.randomUUID()}', 1, 'x', '${ids.user}')`
              : ""
          }`);
        }

    await database.migrate();

    const all = STATUSES.flatMap((status) => GOALS.map((goal) => ({ status, goal })));
    const expected = (kind: string, purpose: string) =>
      all.map(({ status, goal }) => ({
        ...{ run_id: `${purpose} ${status} ${goal}`, kind, status, goal, generation: 3, step: "clone" },
        ...{ error: "e", stop_reason: "idle", worker: "w", provider: "docker", place: "here" },
        ready_at: status === "provisioning" ? null : new Date("2026-01-02T00:00Z"),
        updated_at: new Date("2026-01-04T00:00Z"),
        ...{ state: "active", service_key_hash: `hash of ${purpose} ${status} ${goal}`, host: "/socket" },
        text: `a line of ${purpose} ${status} ${goal}`,
      }));
    const runs = await rows(`
    select run_id, kind, runs.status, goal, runs.generation, step, error, stop_reason, worker, provider, place, ready_at,
      runs.updated_at, state, service_key_hash, host, text
    from runs join session_sandboxes using (run_id) join run_log using (run_id)`);
    const byId = (one: Record<string, unknown>, other: Record<string, unknown>) =>
      String(one["run_id"]) < String(other["run_id"]) ? -1 : 1;
    expect(runs.sort(byId)).toEqual(
      [...expected("session", "agent"), ...expected("deployment", "app")].sort(byId),
    );
    const sessions = await rows(`
    select session_id, s.status = r.status as is_same, count(t.*)::int as tokens, count(p.*)::int as prompts
    from project_sessions s join runs r on r.run_id = s.session_id left join tokens t using (session_id)
      left join session_prompts p using (session_id)
    group by session_id, s.status, r.status`);
    expect(sessions.length).toBe(all.length);
    for (const session of sessions) expect(session).toMatchObject({ is_same: true, tokens: 1, prompts: 1 });

    // the next line has a number after those that were there
    await rows("insert into run_log (run_id, source, text) values ('app running running', 'svc', 'next')");
    const [last] = await rows("select text from run_log order by seq desc limit 1");
    expect(last).toEqual({ text: "next" });
    await rows("delete from runs where run_id = 'agent running running'");
    expect(await rows("select from tokens where session_id = 'agent running running'")).toEqual([]);
  },
);
