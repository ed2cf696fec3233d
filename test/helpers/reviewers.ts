import postgres from "postgres";
import type { MergeStep } from "../../src/deps.ts";
import { type Answer, type Api, startApi } from "./api.ts";
import { createDatabase } from "./postgres.ts";
import { Remote } from "./remote.ts";
import { until } from "./until.ts";

/** A server on a real Postgres, a project that requires approvals, and members of its account. */
export interface ReviewBench {
  api: Api;
  remote: Remote;
  project: { project_id: string; account_id: string };
  /** The server's database. */
  sql: postgres.Sql;
  /** Below the project's path. */
  call(method: string, path: string, options?: Parameters<Api["call"]>[2]): Promise<Answer>;
  /** The token of one more member of the account. */
  member(email: string): Promise<string>;
  leave(email: string): Promise<void>;
  /** A project token, like an agent's. */
  agent(): Promise<string>;
  /** Opens a change request of a new branch with one commit. */
  open(token?: string): Promise<Answer["body"]>;
  /** Waits until a change request is merged, in the database: to read it takes a tenth of what a request takes. */
  merged(cr: Answer["body"]): Promise<void>;
  /** Writes the manifest to the default branch, without svc. */
  rule(manifest: string): void;
  stop(): Promise<void>;
}

export async function startReviews(deps: Parameters<typeof startApi>[0] = {}): Promise<ReviewBench> {
  const database = await createDatabase();
  const sql = postgres(database.url, { max: 1, onnotice() {} });
  const api = await startApi({ ...deps, env: { ...deps.env, DATABASE_URL: database.url } });
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const project = await api.project(remote.url);
  const call: ReviewBench["call"] = (method, path, options) =>
    api.call(method, `/v1/projects/${project.project_id}${path}`, options);
  let branches = 0;
  return {
    api,
    sql,
    remote,
    project,
    call,
    async member(email) {
      const token = await api.mint(email);
      await sql`insert into account_members (account_id, user_id, role)
        select ${project.account_id}, user_id, 'member' from users where email = ${email}`;
      return token;
    },
    async leave(email) {
      await sql`delete from account_members where account_id = ${project.account_id}
        and user_id = (select user_id from users where email = ${email})`;
    },
    agent: async () => (await call("POST", "/cli-token", { body: { name: "agent" } })).body.token,
    async open(token = api.token) {
      const head = `work-${++branches}`;
      remote.commit(head, { [head]: "1\n" }, { from: "main" });
      const made = await call("POST", "/change-requests", { token, body: { title: "t", head_ref: head } });
      if (made.status !== 201) throw new Error(`no change request: ${made.text}`);
      return made.body;
    },
    merged: ({ cr_id, number }) =>
      until(`#${number} is merged`, async () => {
        const [row] = await sql`select status from change_requests where cr_id = ${cr_id}`;
        return row?.["status"] === "merged";
      }),
    rule: (manifest) => void remote.commit("main", { "svc.toml": manifest }),
    async stop() {
      await api.stop();
      await sql.end({ timeout: 1 });
      remote.remove();
      await database.drop();
    },
  };
}

/** What happens, once, between two steps of a merge: `deps` are for `startReviews`. */
export function mergePause() {
  let next: { step: MergeStep; act(): unknown } | null = null;
  return {
    deps: {
      async checkpoint(step: string) {
        if (step !== next?.step) return;
        const { act } = next;
        next = null;
        await act();
      },
    },
    at(step: MergeStep, act: () => unknown): void {
      next = { step, act };
    },
    /** Whether it has happened. */
    isOver: () => next === null,
    clear(): void {
      next = null;
    },
  };
}

/** A manifest that requires this many approvals. */
export const asks = (approvals: number | string) =>
  `svc_version = 1\n[change_requests]\nrequired_approvals = ${approvals}\n`;
