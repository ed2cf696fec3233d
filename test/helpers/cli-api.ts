import type { Identity, Me } from "../../src/contract/account.ts";
import type {
  ChangeRequest,
  ChangeRequestDiff,
  MergedChangeRequest,
  MergePreview,
} from "../../src/contract/change-request.ts";
import type { ChangeRequestHead } from "../../src/contract/change-request-head.ts";
import type { ReviewBody, SubmittedReview } from "../../src/contract/change-request-review.ts";
import type { Check } from "../../src/contract/check.ts";
import type { CheckRun } from "../../src/contract/check-run.ts";
import type { Comment, SentToSession } from "../../src/contract/comment.ts";
import type { CommitStatus } from "../../src/contract/commit-status.ts";
import type { ErrorBody } from "../../src/contract/errors.ts";
import type { Label } from "../../src/contract/label.ts";
import type { MergeMethod } from "../../src/contract/merge-method.ts";
import type { Project } from "../../src/contract/project.ts";
import type { OwnSecret } from "../../src/contract/secret.ts";
import type { TimelineEvent } from "../../src/contract/timeline.ts";
import type { Usage } from "../../src/contract/usage.ts";
import { ADA } from "./authors.ts";
import { APP_ROUTES } from "./cli-apps.ts";
import { CHANNEL_ROUTES } from "./cli-channels.ts";
import { CONNECTOR_ROUTES } from "./cli-connectors.ts";
import { memberRoutes } from "./cli-members.ts";
import { MODEL_ROUTES } from "./cli-models.ts";
import { NOTIFICATION_ROUTES } from "./cli-notifications.ts";
import { REPOSITORY_ROUTES } from "./cli-repository.ts";
import { SESSION_ROUTES } from "./cli-sessions.ts";
import { SIGNING_KEY_ROUTES } from "./cli-signing-keys.ts";
import { SIGN_IN_ROUTES, tokenRoutes } from "./cli-tokens.ts";
import { TRIGGER_ROUTES } from "./cli-triggers.ts";
import { WEBHOOK_ROUTES } from "./cli-webhooks.ts";

export const TOKEN = "svc_pat_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH";
export const PROJECT_ID = "11111111-1111-4111-8111-111111111111";
export const ACCOUNT_ID = "22222222-2222-4222-8222-222222222222";
export const USER_ID = ADA.user_id;
const TIME = "2026-11-20T10:00:00.000Z";

export const PATCH =
  "diff --git a/login.ts b/login.ts\n--- a/login.ts\n+++ b/login.ts\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n";

/** The answer to a merge. */
export const merged = (method: MergeMethod): MergedChangeRequest => ({
  ...changeRequest({ status: "merged", merge_commit_sha: "c".repeat(40), merge_method: method }),
  merge: {
    merge_commit_sha: "c".repeat(40),
    fast_forward: method === "ff-only",
    base_sha_before: "b".repeat(40),
    base_sha_after: "c".repeat(40),
  },
});

export function changeRequest(change: Partial<ChangeRequest> = {}): ChangeRequest {
  const number = change.number ?? 3;
  return {
    cr_id: `44444444-4444-4444-8444-${String(number).padStart(12, "0")}`,
    account_id: ACCOUNT_ID,
    project_id: PROJECT_ID,
    number,
    url: `https://svc.example/projects/demo/change-requests/${number}`,
    title: "Fix the login page",
    description: "",
    base_ref: "main",
    head_ref: "fix-login",
    status: "open",
    head_commit_sha: "a".repeat(40),
    base_commit_sha: "b".repeat(40),
    cost: null,
    tokens: { input: 0, output: 0, cached: 0 },
    origin_session_id: null,
    created_by: USER_ID,
    author: ADA,
    opened_by_agent: false,
    opened_by_session_id: null,
    mergeable: null,
    merged_at: null,
    merged_by: null,
    merger: null,
    merge_commit_sha: null,
    merge_method: null,
    merge_methods: ["merge", "squash", "rebase"],
    closed_at: null,
    closed_by: null,
    closer: null,
    metadata: {},
    created_at: TIME,
    updated_at: TIME,
    stale: false,
    draft: false,
    approvals: [],
    auto_merge: null,
    reverts: null,
    reverted_by: null,
    queue: null,
    merge_queue: false,
    required_approvals: 0,
    code_owner_reviews: null,
    open_threads: 1,
    labels: [],
    assignees: [],
    requested_reviewers: [],
    checks: { state: "none", total: 0, passed: 0, failed: 0, pending: 0, required: [] },
    ...change,
  };
}

/** A check of a commit that has passed. */
const CHECK_LINE = { at: TIME, source: "check", text: "80 passed" } as const;

/** A check that svc has run. */
export function check(change: Partial<Check> = {}): Check {
  return {
    check_id: "66666666-6666-4666-8666-000000000002",
    name: "test",
    sha: "a".repeat(40),
    state: "success",
    description: "Passed after 3 s",
    command: "npm test",
    timeout_minutes: 30,
    attempt: 1,
    created_at: TIME,
    started_at: TIME,
    ended_at: TIME,
    ...change,
  };
}

export function checkRun(change: Partial<CheckRun> = {}): CheckRun {
  return {
    ...{ id: 7, head_sha: "a".repeat(40), name: "lint", external_id: null },
    ...{ url: "https://svc.example.com/v1/x", html_url: null, details_url: null },
    ...{ status: "in_progress", conclusion: null, started_at: TIME, completed_at: null },
    output: { title: null, summary: null, text: null, annotations_count: 2, annotations_url: "https://x" },
    ...{ check_suite: null, app: null, pull_requests: [], creator: ADA },
    ...change,
  };
}

export function commitStatus(change: Partial<CommitStatus> = {}): CommitStatus {
  return {
    id: "66666666-6666-4666-8666-000000000001",
    sha: "a".repeat(40),
    state: "success",
    context: "test",
    description: null,
    target_url: null,
    check_run_id: null,
    from_host: false,
    creator: ADA,
    created_at: TIME,
    updated_at: TIME,
    ...change,
  };
}

export function comment(change: Partial<Comment> = {}): Comment {
  return {
    comment_id: "55555555-5555-4555-8555-000000000001",
    cr_id: changeRequest().cr_id,
    reply_to: null,
    body: "Too short.",
    path: "login.ts",
    line: 2,
    start_line: null,
    side: "new",
    outdated: false,
    original_path: "login.ts",
    original_line: 2,
    original_start_line: null,
    quote: "new",
    head_commit_sha: "a".repeat(40),
    author: ADA,
    resolved_at: null,
    resolved_by: null,
    created_at: TIME,
    updated_at: TIME,
    ...change,
  };
}

export function approval(counts = true): ChangeRequest["approvals"][number] {
  const head_commit_sha = "a".repeat(40);
  const said = { head_commit_sha, state: "approved", body: null, created_at: TIME, counts } as const;
  return { user_id: USER_ID, name: "Ada", author: ADA, ...said };
}

/** A request for changes of the head commit. */
export function changesRequested(body = "Handle the empty list."): ChangeRequest["approvals"][number] {
  return { ...approval(false), state: "changes_requested", body };
}

export function autoMerge(change: object = {}): NonNullable<ChangeRequest["auto_merge"]> {
  return {
    ...{ enabled: true, off_reason: null, head_commit_sha: "a".repeat(40), method: null },
    ...{ delete_branch: false, author: ADA, created_at: TIME },
    ...change,
  };
}

/** The place of a change request in a merge queue. */
export function queued(change: object = {}): NonNullable<ChangeRequest["queue"]> {
  return {
    ...{ state: "testing", position: 2, reason: null, head_commit_sha: "a".repeat(40), method: "squash" },
    ...{ tested_commit_sha: "d".repeat(40), delete_branch: false, queued_by: ADA, queued_at: TIME },
    checks: {
      ...{ state: "pending", total: 2, passed: 1, failed: 0, pending: 1 },
      required: [{ context: "test", state: "pending" }],
    },
    ...change,
  };
}

export function project(change: Partial<Project> = {}): Project {
  return {
    project_id: PROJECT_ID,
    account_id: ACCOUNT_ID,
    name: "Shop",
    slug: "shop",
    repo_url: "https://git.example.com/shop.git",
    git_url: `http://localhost:8008/v1/git/${PROJECT_ID}.git`,
    protected_branches: ["main"],
    default_branch: "main",
    managed: false,
    manifest_path: "svc.toml",
    model_budget: null,
    model_session_budget: null,
    created_at: TIME,
    updated_at: TIME,
    ...change,
  };
}

export const CLEAN: MergePreview = {
  base_sha: "b".repeat(40),
  head_sha: "a".repeat(40),
  merge_base: "b".repeat(40),
  is_up_to_date: false,
  can_merge: true,
  can_fast_forward: false,
  conflicts: [],
};

export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Headers;
  body: unknown;
}

type Answer = Response | object | undefined;
type Route = (request: Seen) => Answer | Promise<Answer>;

export interface FakeApi {
  /** The URL for a host's configuration; ends in `/v1`. */
  url: string;
  /** Environment for a client, as in a sandbox without a session. */
  env: Record<string, string>;
  seen: Seen[];
  /** Replaces a response: `POST /projects/:p/change-requests/:n/merge`. */
  on(route: string, answer: Route): void;
  /** Handles all paths with this prefix. */
  mount(prefix: string, answer: Route): void;
  reset(): void;
  stop(): void;
}

/** A fake server for the client: the wire shapes of src/contract on a loopback port. */
export function fakeApi(): FakeApi {
  const seen: Seen[] = [];
  let routes = new Map<string, Route>();
  let mounts = new Map<string, Route>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const url = new URL(request.url);
      const text = await request.text();
      const call: Seen = {
        method: request.method,
        path: url.pathname.replace(/^\/v1/, ""),
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: text === "" ? undefined : safeParse(text),
      };
      seen.push(call);
      const key = `${call.method} ${generalize(call.path)}`;
      const mounted = [...mounts].find(([prefix]) => call.path.startsWith(prefix));
      const route = mounted?.[1] ?? routes.get(key) ?? DEFAULTS[key];
      const isOpen = /\/(health|auth\/device.*)$/.test(call.path);
      if (!isOpen && request.headers.get("authorization") !== `Bearer ${TOKEN}`) {
        return failure("unauthorized", "A token is needed.", 401);
      }
      const answer = await route?.(call);
      if (answer === undefined) return failure("not_found", "There is no such route.", 404);
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  const url = `http://127.0.0.1:${server.port}/v1`;
  return {
    url,
    env: { SVC_API_URL: url, SVC_CLI_TOKEN: TOKEN, SVC_PROJECT_ID: PROJECT_ID },
    seen,
    on: (route, answer) => {
      routes.set(route, answer);
    },
    mount: (prefix, answer) => {
      mounts.set(prefix, answer);
    },
    reset() {
      routes = new Map();
      mounts = new Map();
      seen.length = 0;
    },
    stop: () => {
      void server.stop(true);
    },
  };
}

export function failure(
  code: ErrorBody["code"] | (string & {}),
  error: string,
  status: number,
  extra: object = {},
  headers: Record<string, string> = {},
): Response {
  return Response.json(
    { error, code, ...extra },
    { status, headers: { "X-Request-Id": "req-1", ...headers } },
  );
}

/** `/projects/shop/change-requests/3/merge` is the route `/projects/:p/change-requests/:n/merge`. */
function generalize(path: string): string {
  return path
    .replace(/^\/accounts\/secrets\/[^/]+/, "/accounts/secrets/:n")
    .replace(/(?<=^|:n)\/projects\/[^/]+/, "/projects/:p")
    .replace(
      /^(\/projects\/:p\/(?:change-requests|secrets|sessions|triggers|webhooks|channels|connectors|connector-asks|model-upstreams|commits|statuses|check-runs|tries))\/[^/]+/,
      "$1/:n",
    )
    .replace(/\/comments\/(?!apply$)[^/]+/, "/comments/:c")
    .replace(/\/request-changes\/[^/]+/, "/request-changes/:u")
    .replace(/(?<=:p)\/checks\/[^/]+/, "/checks/:c")
    .replace(/\/prompts\/[^/]+/, "/prompts/:q");
}

function submitted({ event, body, comments = [] }: ReviewBody): SubmittedReview {
  const summary =
    body === undefined || event === "REQUEST_CHANGES" ? [] : [comment({ body, path: null, line: null })];
  const approvals = event === "COMMENT" ? [] : [event === "APPROVE" ? approval() : changesRequested()];
  return {
    change_request: changeRequest({ approvals, required_approvals: 2 }),
    comments: [...summary, ...comments.map((each) => comment(each))],
  };
}

function ownSecret(name: string, slugs = ["shop"]): OwnSecret {
  const projects = slugs.map((slug) => ({ project_id: PROJECT_ID, name: slug, slug }));
  return { name, projects, created_at: TIME, updated_at: TIME };
}

function safeParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const IDENTITY: Identity = {
  kind: "user",
  user_id: USER_ID,
  email: "ada@example.com",
  name: "Ada",
  project_id: null,
  project_name: null,
  session_id: null,
  scopes: ["write"],
  expires_at: null,
};

export const ME: Me = {
  user_id: USER_ID,
  email: "ada@example.com",
  name: "Ada",
  is_operator: true,
  accounts: [{ account_id: ACCOUNT_ID, name: "Ada's", slug: "ada", role: "owner", tier: "self-hosted" }],
};

export const PROJECT_IDENTITY: Identity = {
  ...IDENTITY,
  kind: "project",
  project_id: PROJECT_ID,
  project_name: "Shop",
  session_id: "55555555-5555-4555-8555-555555555555",
};

const CR = "/projects/:p/change-requests/:n";
const BUG: Label = { name: "bug", color: "d73a4a", description: null };
const SENT: SentToSession = {
  session_id: "77777777-7777-4777-8777-000000000001",
  prompt_id: "77777777-7777-4777-8777-000000000002",
  created: false,
};

const DEFAULTS: Record<string, Route> = {
  ...REPOSITORY_ROUTES,
  ...SESSION_ROUTES,
  ...APP_ROUTES,
  ...TRIGGER_ROUTES,
  ...WEBHOOK_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...SIGNING_KEY_ROUTES,
  ...tokenRoutes(PROJECT_ID),
  ...SIGN_IN_ROUTES,
  ...Object.assign({}, ...ME.accounts.map(memberRoutes)),
  ...CHANNEL_ROUTES,
  ...MODEL_ROUTES,
  ...CONNECTOR_ROUTES,
  "GET /health": () => ({ status: "ok", service: "svc-api", version: "0.1.0", database: "embedded" }),
  "GET /auth/whoami": () => IDENTITY,
  "GET /accounts/me": () => ME,
  [`GET /accounts/${ACCOUNT_ID}/usage`]: (): Usage => {
    const tokens = { input: 100, output: 10, cached: 20 };
    const total = { calls: 2, incomplete: 0, unpriced: 0, tokens, cost: 0.5 };
    const usage = [{ key: "2026-11-20", name: null, ...total }];
    return { group_by: "day", since: TIME, until: TIME, usage, total, truncated: false };
  },
  "GET /projects": () => ({ projects: [project()] }),
  "POST /projects": ({ body }) =>
    Response.json(project({ name: String(Reflect.get(Object(body), "name")) }), { status: 201 }),
  "GET /projects/:p": () => project(),
  "PATCH /projects/:p": ({ body }) => ({ ...project(), ...Object(body), git_credential_dropped: false }),
  "DELETE /projects/:p": () => ({ ok: true }),
  "DELETE /projects/:p/protected/master": () => project(),
  "PUT /projects/:p/git-credential": () => ({ ok: true }),
  "GET /projects/:p/secrets": () => ({
    items: [
      { name: "API_KEY", for: ["sessions", "builds"], set_by: ADA, created_at: TIME, updated_at: TIME },
    ],
    required: ["API_KEY", "DB_URL"],
    optional: ["REGION"],
    missing: ["DB_URL"],
  }),
  "PUT /projects/:p/secrets/:n": ({ path }) => ({
    name: path.split("/").at(-1),
    for: ["sessions", "builds"],
    set_by: ADA,
    created_at: TIME,
    updated_at: TIME,
  }),
  "DELETE /projects/:p/secrets/:n": () => ({ ok: true }),
  "GET /accounts/secrets": () => ({ items: [ownSecret("CLAUDE_CODE_OAUTH_TOKEN")] }),
  "PUT /accounts/secrets/:n": ({ path }) => ownSecret(path.split("/").at(-1) ?? "", []),
  "DELETE /accounts/secrets/:n": () => ({ ok: true }),
  "PUT /accounts/secrets/:n/projects/:p": ({ path }) => ownSecret(path.split("/").at(-3) ?? ""),
  "DELETE /accounts/secrets/:n/projects/:p": ({ path }) => ownSecret(path.split("/").at(-3) ?? "", []),
  "GET /projects/:p/labels": () => ({ labels: [BUG] }),
  "POST /projects/:p/labels": () => Response.json(BUG, { status: 201 }),
  "PATCH /projects/:p/labels/bug": () => BUG,
  "DELETE /projects/:p/labels/bug": () => ({ ok: true }),
  "GET /projects/:p/change-requests": ({ query }) => ({
    change_requests:
      query["status"] === "open"
        ? [changeRequest()]
        : [changeRequest(), changeRequest({ number: 2, status: "merged" })],
  }),
  "POST /projects/:p/change-requests": ({ body }) =>
    Response.json(changeRequest({ number: 4, ...(body as Partial<ChangeRequest>) }), { status: 201 }),
  [`GET ${CR}`]: () => ({ change_request: changeRequest() }),
  [`PATCH ${CR}`]: ({ body }) => changeRequest(body as Partial<ChangeRequest>),
  "GET /projects/:p/change-request-templates": () => ({ templates: [] }),
  [`GET ${CR}/merge-preview`]: () => CLEAN,
  [`GET ${CR}/manifest`]: () => ({ path: "svc.toml", changed: false, errors: [], opens: [] }),
  [`GET ${CR}/comments`]: () => ({ comments: [comment()] }),
  [`POST ${CR}/comments`]: ({ body }) => Response.json(comment(body as Partial<Comment>), { status: 201 }),
  [`POST ${CR}/comments/:c/resolve`]: () => comment({ resolved_at: TIME, resolved_by: USER_ID }),
  [`POST ${CR}/comments/apply`]: ({ body }) => ({
    commit_sha: "c".repeat(40),
    comments: (body as { comment_ids: string[] }).comment_ids.map((comment_id) =>
      comment({ comment_id, resolved_at: TIME, resolved_by: USER_ID }),
    ),
  }),
  [`POST ${CR}/comments/:c/unresolve`]: () => comment(),
  [`POST ${CR}/reviews`]: ({ body }) => Response.json(submitted(body as ReviewBody), { status: 201 }),
  [`POST ${CR}/approve`]: () => changeRequest({ approvals: [approval()], required_approvals: 2 }),
  [`DELETE ${CR}/approve`]: () => changeRequest(),
  [`POST ${CR}/request-changes`]: () => changeRequest({ approvals: [changesRequested()] }),
  [`DELETE ${CR}/request-changes`]: () => changeRequest(),
  [`DELETE ${CR}/request-changes/:u`]: () => changeRequest(),
  "GET /projects/:p/commits/:n/status": ({ path }) => {
    const sha = path.split("/").at(-2) ?? "";
    return { sha, state: "success", total_count: 1, statuses: [commitStatus({ sha })] };
  },
  "GET /projects/:p/commits/:n/check-runs": () => ({ total_count: 0, check_runs: [] }),
  [`GET ${CR}/checks`]: () => ({ checks: [check()] }),
  [`POST ${CR}/checks/rerun`]: ({ body }) =>
    Response.json(check({ ...(body as Partial<Check>), state: "queued", attempt: 2 }), { status: 202 }),
  [`POST ${CR}/checks/send-to-session`]: () => SENT,
  [`POST ${CR}/send-to-session`]: () => SENT,
  [`POST ${CR}/update-branch`]: () => ({
    updated: true,
    head_commit_sha: "c".repeat(40),
    base_commit_sha: "b".repeat(40),
  }),
  [`POST ${CR}/resolve-conflicts`]: () => SENT,
  "GET /projects/:p/checks/:c/log": () => ({ check: check(), lines: [CHECK_LINE], truncated: false }),
  "POST /projects/:p/statuses/:n": ({ path, body }) =>
    Response.json(commitStatus({ ...(body as Partial<CommitStatus>), sha: path.split("/").at(-1) ?? "" }), {
      status: 201,
    }),
  [`GET ${CR}/diff`]: ({ headers }) =>
    headers.get("accept")?.includes("text/x-diff")
      ? new Response(PATCH, { headers: { "Content-Type": "text/x-diff; charset=utf-8" } })
      : diff(),
  [`PUT ${CR}/auto-merge`]: ({ body }) => changeRequest({ auto_merge: autoMerge(body as object) }),
  [`DELETE ${CR}/auto-merge`]: () => changeRequest(),
  [`DELETE ${CR}/queue`]: () => changeRequest(),
  "GET /projects/:p/queue": () => ({ base_ref: "main", entries: [changeRequest({ queue: queued() })] }),
  [`GET ${CR}/stack`]: () => ({ stack: [] }),
  [`GET ${CR}/timeline`]: () => ({ events: [pushed()] }),
  [`GET ${CR}/heads`]: () => ({ heads: [head({ number: 2, reviewed: false }), head()] }),
  [`POST ${CR}/merge`]: ({ body }) => ({
    ...merged("merge"),
    ...(body instanceof Object &&
      "delete_branch" in body && { head_branch: { deleted: true, reason: null } }),
  }),
  [`POST ${CR}/revert`]: () =>
    Response.json(
      changeRequest({
        number: 4,
        title: 'Revert "Fix the login page"',
        head_ref: "revert-3-fix-login",
        reverts: 3,
      }),
      { status: 201 },
    ),
  [`POST ${CR}/close`]: () => changeRequest({ status: "closed", closed_at: TIME, closed_by: USER_ID }),
  [`POST ${CR}/reopen`]: () => changeRequest(),
};

function head(change: Partial<ChangeRequestHead> = {}): ChangeRequestHead {
  const shas = { commit_sha: "a".repeat(40), base_commit_sha: "b".repeat(40) };
  return { number: 1, ...shas, seen_at: TIME, reviewed: true, ...change };
}

/** A push of Ada's, with the fields of all other events, too. */
function pushed(): TimelineEvent {
  const { user_id, name } = ADA;
  return {
    ...{ id: 1, event: "pushed", actor: ADA, created_at: TIME },
    ...{ from: "a".repeat(40), to: "b".repeat(40), head: 2, commits: 1 },
    ...{ commit_sha: "b".repeat(40), state: "success", body: "Why?", reason: "The branches conflict." },
    ...{ user: { user_id, name }, label: { name: "bug", color: "d73a4a" }, number: 2, method: "merge" },
    ...{ comment_id: "55555555-5555-4555-8555-000000000001", branch: "main" },
  };
}

export function diff(): ChangeRequestDiff {
  return {
    cr_id: changeRequest().cr_id,
    base_ref: "main",
    head_ref: "fix-login",
    base_sha: "b".repeat(40),
    head_sha: "a".repeat(40),
    merge_base: "b".repeat(40),
    files: [
      {
        path: "login.ts",
        path_base64: "bG9naW4udHM=",
        status: "modified",
        additions: 1,
        deletions: 1,
        binary: false,
      },
    ],
    files_changed: 1,
    additions: 1,
    deletions: 1,
    patch: PATCH,
    truncated: false,
    since: { number: 1, commit_sha: "c".repeat(40) },
  };
}
