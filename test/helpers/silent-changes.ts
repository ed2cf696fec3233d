import postgres from "postgres";

/**
 * Watches a database for changes without an event: each row that people see, changed in a
 * transaction that published no event for it.
 */
export async function watchSilentChanges(
  url: string,
): Promise<{ silent(): Promise<string[]>; end(): Promise<void> }> {
  const sql = postgres(url, { max: 1, onnotice() {} });
  await sql.unsafe("create table silent_changes (what text)");
  for (const { table, type, subject, isSeen, on = "insert or update or delete" } of WATCHED) {
    await sql.unsafe(`
      create function told_${table}() returns trigger language plpgsql as $$
      declare row record;
      begin
        row := coalesce(new, old);
        if tg_op = 'UPDATE' and not (${isSeen}) then return null; end if;
        if not exists (
          select from project_events
          where project_id = row.project_id and type = '${type}' and subject = row.${subject}::text
            and xmin = pg_current_xact_id()::xid
        ) and exists (select from projects where project_id = row.project_id)
        then insert into silent_changes values ('${table} ' || tg_op || ' ' || row_to_json(row)); end if;
        return null;
      end $$;
      create constraint trigger told after ${on} on ${table}
        deferrable initially deferred for each row execute function told_${table}()`);
  }
  return {
    silent: async () => (await sql`select what from silent_changes`).map((row) => String(row["what"])),
    end: () => sql.end({ timeout: 1 }),
  };
}

const differs = (...columns: string[]) =>
  `(${columns.map((column) => `old.${column}`)}) is distinct from (${columns.map((column) => `new.${column}`)})`;

/** Columns of change requests in which workers note how far they are. */
const NOTED_BY_WORKERS = "'{checked_sha,owners_sha}'::text[]";

/** Tables, and when an update of a row is one that people see. */
const WATCHED = [
  {
    table: "project_sessions",
    type: "session",
    subject: "session_id",
    isSeen: differs("status", "name", "saved_commit", "saved_at", "restores"),
  },
  {
    table: "runs",
    type: "session",
    subject: "run_id",
    isSeen: `${differs("status", "step", "error", "stop_reason")} and new.kind = 'session'`,
    on: "update",
  },
  {
    table: "change_requests",
    type: "change_request",
    subject: "cr_id",
    isSeen: `to_jsonb(old) - ${NOTED_BY_WORKERS} is distinct from to_jsonb(new) - ${NOTED_BY_WORKERS}`,
  },
  { table: "project_secrets", type: "secret", subject: "name", isSeen: "true" },
  {
    table: "projects",
    type: "project",
    subject: "project_id",
    isSeen: differs("name", "slug", "repo_url", "default_branch", "git_credential"),
  },
];
