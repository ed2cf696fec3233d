import postgres from "postgres";
import { SCOPES, type Scope } from "../../src/contract/scope.ts";
import { type ReviewBench, startReviews } from "./reviewers.ts";
import { untilStatus } from "./sessions.ts";
import { StandInProvider } from "./stand-in-provider.ts";

/** The callers, from fewest to most permissions. The agent's token is tested on another session and on its own. */
export const CALLERS = [
  "stranger",
  "operator",
  "agent, other session",
  "agent, own session",
  "script",
  "member",
  "admin",
  "owner",
] as const;
export type Caller = (typeof CALLERS)[number];

/** The member in the requests' paths. */
const OTHER = "other@example.com";

/** Missing and invalid tokens. */
export const REFUSED = ["none", "garbage", "revoked", "expired"] as const;

/** A project and all callers. `renew` re-creates what a call destroys. */
export interface CallersBench {
  refused: Record<(typeof REFUSED)[number], string | null>;
  /** A project with a change request and two sessions that run, and a token for each caller. */
  renew(): Promise<void>;
  /** The status that this caller gets, without the body, since streams never end. */
  ask(caller: Caller, method: string, path: string, body?: unknown): Promise<number>;
  askWith(token: string | null, method: string, path: string, body?: unknown): Promise<number>;
  /** The owner's tokens, one with each scope. */
  scopedTokens(): Promise<Record<Scope, string>>;
  stop(): Promise<void>;
}

export async function startCallers(): Promise<CallersBench> {
  const provider = new StandInProvider();
  const bench = await startReviews({
    deps: { sandboxes: provider.sandboxesOf },
    env: { SVC_SESSION_CAP: "1000" },
  });
  const { api, remote } = bench;
  const people = {
    stranger: "stranger@example.com",
    operator: "operator@example.com",
    member: "member@example.com",
    admin: "admin@example.com",
  };
  for (const email of [people.member, people.admin, OTHER]) await bench.member(email);
  const sql = postgres(api.databaseUrl ?? "", { max: 1, onnotice() {} });
  await sql`update account_members set role = 'admin' where account_id = ${bench.project.account_id}
    and user_id = (select user_id from users where email = ${people.admin})`;
  const [other] = await sql`select user_id from users where email = ${OTHER}`;
  const { slug: owner } = (await api.call("GET", `/v1/accounts/${bench.project.account_id}`)).body;
  let state = await makeState();
  // the owner was the first user, and is an operator otherwise
  await sql`update users set is_operator = (email = ${people.operator})`;

  async function makeState() {
    await bench.leave(OTHER);
    await bench.member(OTHER);
    const project = await api.project(remote.url);
    const at = `/v1/projects/${project.project_id}`;
    const [own, other] = await Promise.all([makeSession(at), makeSession(at)]);
    // the sessions' changes conflict with it
    remote.commit("main", { a: `${project.project_id}\n` });
    const changes = { own: await propose(at, own), other: await propose(at, other) };
    const tokens: Record<Caller, string> = {
      stranger: await api.mint(people.stranger),
      operator: await api.mint(people.operator),
      "agent, other session": own.token,
      "agent, own session": own.token,
      script: (await api.call("POST", `${at}/cli-token`, { body: {} })).body.token,
      member: await api.mint(people.member),
      admin: await api.mint(people.admin),
      owner: await api.mint("first@example.com"),
    };
    return { project, own: { ...own, ...changes.own }, other: { ...other, ...changes.other }, tokens };
  }

  async function makeSession(at: string) {
    const made = await api.call("POST", `${at}/sessions`, { body: {} });
    if (made.status !== 201) throw new Error(`no session: ${made.text}`);
    const { session_id: sessionId, branch_name: branch } = made.body;
    await untilStatus(async () => (await api.call("GET", `${at}/sessions/${sessionId}`)).body, ["running"]);
    const token = provider.sandboxes.get(sessionId)?.environment["SVC_CLI_TOKEN"];
    if (!token) throw new Error("the sandbox has no token");
    return { sessionId, branch, token };
  }

  /** A change request of a session with a failed check, and a person's comment on it. */
  async function propose(at: string, { branch, token }: { branch: string; token: string }) {
    const sha = remote.commit(branch, { a: `${branch}\n` });
    await api.call("POST", `${at}/statuses/${sha}`, { body: { state: "failure" } });
    const body = { title: "t", head_ref: branch, session_id: branch };
    const { cr_id: crId } = (await api.call("POST", `${at}/change-requests`, { token, body })).body;
    const comments = `${at}/change-requests/${crId}/comments`;
    const { comment_id: commentId } = (await api.call("POST", comments, { body: { body: "Why?" } })).body;
    return { crId, commentId };
  }

  const pathFor = (caller: Caller, path: string) => {
    const { sessionId, crId, commentId } = caller === "agent, own session" ? state.own : state.other;
    const values: Record<string, string | undefined> = {
      projectId: state.project.project_id,
      accountId: state.project.account_id,
      sessionId,
      crId,
      commentId,
      owner,
      userId: other?.["user_id"],
      name: "NAME",
      sha: "a".repeat(40),
      checkRunId: "1",
      slug: "site",
      userCode: "BCDF-GHJK",
    };
    return path.replace(/:(\w+)/g, (_, name) => values[name] ?? crypto.randomUUID()).replace("*", "main");
  };
  const askWith: CallersBench["askWith"] = async (token, method, path, body) => {
    const stop = new AbortController();
    const { status } = await fetch(api.url + pathFor("owner", path), {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        "Content-Type": "application/json",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "manual",
      signal: stop.signal,
    });
    stop.abort();
    return status;
  };
  return {
    refused: await refusedTokens(bench, sql),
    async renew() {
      state = await makeState();
    },
    ask: (caller, method, path, body) => askWith(state.tokens[caller], method, pathFor(caller, path), body),
    askWith,
    async scopedTokens() {
      const make = async (scope: Scope) =>
        (await api.call("POST", "/v1/accounts/tokens", { body: { name: scope, scopes: [scope] } })).body
          .token;
      const [read, write, fetches, pushes, checks] = await Promise.all(SCOPES.map(make));
      return { read, write, "git:read": fetches, "git:write": pushes, checks };
    },
    async stop() {
      await bench.stop();
      await sql.end({ timeout: 1 });
      await provider.close();
    },
  };
}

async function refusedTokens({ api }: ReviewBench, sql: postgres.Sql): Promise<CallersBench["refused"]> {
  const make = async (name: string) =>
    (await api.call("POST", "/v1/accounts/tokens", { body: { name } })).body;
  const revoked = await make("revoked");
  await api.call("DELETE", `/v1/accounts/tokens/${revoked.token_id}`);
  const expired = await make("expired");
  await sql`update tokens set expires_at = now() - interval '1 second' where token_id = ${expired.token_id}`;
  return { none: null, garbage: `svc_pat_${"a".repeat(43)}`, revoked: revoked.token, expired: expired.token };
}
