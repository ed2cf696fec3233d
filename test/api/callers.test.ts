import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createApp } from "../../src/app.ts";
import { SCOPES, type Scope } from "../../src/contract/scope.ts";
import type { Deps } from "../../src/deps.ts";
import { CALLERS, type Caller, type CallersBench, REFUSED, startCallers } from "../helpers/callers.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { generator, pick, SEED, share } from "../helpers/random.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: CallersBench;

beforeAll(async () => {
  if (POSTGRES) bench = await startCallers();
});
afterAll(() => bench?.stop());

interface Row {
  /** As the table has it: `GET /v1/x`, or with a field of the body that makes a difference. */
  title: string;
  method: string;
  path: string;
  /** `yes`, or the status of the refusal, for each of `CALLERS`. */
  cells: string[];
  heldBy: string;
}

/** The table of docs/security.md. */
const ROWS: Row[] = readFileSync("docs/security.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [title = "", ...cells] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [, method = "", path = ""] = /^`([A-Z]+) (\S+)`/.exec(title) ?? [];
    return { title: title.replaceAll("`", ""), method, path, cells, heldBy: cells.pop() ?? "" };
  });

/** What is sent, so that nothing but the caller can be refused. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /v1/projects/:projectId/statuses/:sha": { state: "success" },
  "POST /v1/projects/:projectId/check-runs": { name: "test", head_sha: "a".repeat(40) },
  "POST /v1/github/repos/:owner/:projectId/statuses/:sha": { state: "success" },
  "POST /v1/github/repos/:owner/:projectId/check-runs": { name: "test", head_sha: "a".repeat(40) },
  "POST /v1/projects/:projectId/change-requests/:crId/checks/rerun": { name: "test" },
  "POST /v1/projects/:projectId/apps/:slug/domains": { domain: "www.example.com" },
  "PATCH /v1/accounts/:accountId": { name: "Renamed" },
  "PATCH /v1/accounts/:accountId/members/:userId": { role: "member" },
  "POST /v1/accounts/:accountId/invitations": { email: "new@example.com", role: "member" },
  "POST /v1/accounts/tokens": { name: "t" },
  "POST /v1/accounts/notifications/read": {},
  "PATCH /v1/accounts/notifications/settings": { choices: [{ event: "cr.opened", ways: [] }] },
  "POST /v1/users/me/signing-keys": { key: "ssh-ed25519 AAAA" },
  "POST /v1/accounts/notifications/browsers": {
    endpoint: "https://push.example.com/x",
    keys: {
      // of RFC 8291, appendix A
      p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth: "BTBZMqHH6r4Tts7J_aSIgg",
    },
  },
  "PUT /v1/accounts/secrets/:name": { value: "v" },
  "POST /v1/projects": { name: "New" },
  "PATCH /v1/projects/:projectId": { name: "Renamed" },
  "PATCH /v1/projects/:projectId with default_branch": { default_branch: "main" },
  "PATCH /v1/projects/:projectId with repo_url": { repo_url: "https://127.0.0.1:1/x" },
  "PUT /v1/projects/:projectId/git-credential": { token: "t" },
  "POST /v1/projects/:projectId/secrets": { name: "NAME", value: "v" },
  "PUT /v1/projects/:projectId/secrets/:name": { value: "v" },
  "PATCH /v1/projects/:projectId/sessions/:sessionId": { name: "Renamed" },
  "POST /v1/projects/:projectId/sessions/:sessionId/prompt": { text: "hello" },
  "POST /v1/projects/:projectId/tries": { initial_prompt: "p", count: 2 },
  "POST /v1/projects/:projectId/tries/:triesId/choose": { session_id: crypto.randomUUID() },
  "POST /v1/projects/:projectId/sessions/:sessionId/exec": { command: ["true"] },
  "POST /v1/projects/:projectId/sessions/:sessionId/preview": { port: 3000 },
  "POST /v1/projects/:projectId/network/allow": { hosts: ["api.example.com"] },
  "POST /v1/projects/:projectId/labels": { name: "bug" },
  "PATCH /v1/projects/:projectId/labels/:name": { color: "0e8a16" },
  "POST /v1/projects/:projectId/change-requests": { title: "t", head_ref: "no-such-branch" },
  "PATCH /v1/projects/:projectId/change-requests/:crId": { title: "Renamed" },
  "PUT /v1/projects/:projectId/change-requests/:crId/auto-merge": { head_commit_sha: "a".repeat(40) },
  "POST /v1/projects/:projectId/change-requests/:crId/request-changes": { body: "c" },
  "POST /v1/projects/:projectId/change-requests/:crId/reviews": { event: "APPROVE" },
  "POST /v1/projects/:projectId/change-requests/:crId/comments": { body: "c" },
  "PATCH /v1/projects/:projectId/change-requests/:crId/comments/:commentId": { body: "c" },
  "POST /v1/projects/:projectId/change-requests/:crId/comments/apply": {
    comment_ids: ["00000000-0000-4000-8000-000000000000"],
  },
  "PATCH /v1/projects/:projectId/triggers/:slug": { enabled: true },
};

const CHANGE_REQUEST = "/v1/projects/:projectId/change-requests/:crId";
const SESSION = "/v1/projects/:projectId/sessions/:sessionId";
/** These end what the next caller would ask for, each at least as much as those before it. */
const ENDING = [
  `POST ${CHANGE_REQUEST}/merge`,
  `POST ${CHANGE_REQUEST}/reopen`,
  `POST ${CHANGE_REQUEST}/close`,
  `DELETE ${CHANGE_REQUEST}/comments/:commentId`,
  "DELETE /v1/accounts/:accountId/members/:userId",
  `POST ${SESSION}/stop`,
  `POST ${SESSION}/restart`,
  `DELETE ${SESSION}`,
  "DELETE /v1/projects/:projectId",
  "POST /v1/auth/revoke",
];
/** After these, the callers need a new project or new tokens: an agent's ends with its session. */
const ENDS_ALL = ENDING.slice(-5);

test("the table of docs/security.md has every route that requires a credential, and names existing tests", () => {
  const security = readFileSync("SECURITY.md", "utf8");
  // the table alone is read: no route is called, and so no part of the server is needed
  const routes = createApp({} as Deps).routes.map(({ method, path }) => `${method} ${path}`);
  const guarded = routes.filter((route) => route === "GET /metrics" || !security.includes(`\`${route}\``));
  const inTable = ROWS.map(({ method, path }) => `${method} ${path}`);
  const others = [
    "GET /v1/git/:projectId.git/info/refs?service=git-upload-pack",
    "GET /v1/p/:sessionId/3000/",
  ];
  expect([...new Set(inTable)].sort()).toEqual([...guarded, ...others].sort());
  expect(ENDING.filter((title) => !ROWS.some((row) => row.title === title))).toEqual([]);
  for (const { title, heldBy } of ROWS)
    expect([title, existsSync(heldBy.replaceAll("`", ""))]).toEqual([title, true]);
});

const random = generator(SEED);
/** One of equal kind by the seed, or all in `npm test -- --full`. */
const drawn = <Kind>(kinds: readonly Kind[]) => pick(share(1, kinds.length), kinds, random);

/** Those that end something are last: what they end takes a second to make again. */
const IN_ORDER = ROWS.toSorted((a, b) => ENDING.indexOf(a.title) - ENDING.indexOf(b.title));

/** Of the callers that a route refuses, those of every run: a stranger, an agent, and the one with the most permissions. */
function held(refused: readonly Caller[]): Caller[] {
  const agent = refused.findLast((caller) => caller.startsWith("agent"));
  return refused.filter((caller) => ["stranger", agent, refused.at(-1)].includes(caller));
}

/**
 * The callers that a route refuses in every run, and one of the others; then one of those that it allows; and one of the
 * missing and invalid tokens.
 */
const ASKED = IN_ORDER.map((row) => {
  const isAllowed = (caller: Caller) => row.cells[CALLERS.indexOf(caller)] === "yes";
  const refused = CALLERS.filter((caller) => !isAllowed(caller));
  const kept = held(refused);
  const others = refused.filter((caller) => !kept.includes(caller));
  const callers = [...kept, ...drawn(others), ...drawn(CALLERS.filter(isAllowed))];
  return [row.title, { ...row, callers, tokens: drawn(REFUSED) }] as const;
});

/** Whether the last row has left what the next caller asks for. */
let isWhole = true;

test.each(ASKED)(
  "each caller gets the status that the table of docs/security.md has: %s",
  async (title, { method, path, cells, callers, tokens }) => {
    const body = method === "GET" ? undefined : (BODIES[title] ?? {});
    for (const refused of tokens) {
      const status = await bench.askWith(bench.refused[refused], method, path, body);
      expect([refused, status]).toEqual([refused, 401]);
    }
    if (!isWhole) await bench.renew();
    isWhole = !ENDS_ALL.includes(title);
    expect(cells).toHaveLength(CALLERS.length);
    for (const caller of callers) {
      // both agents have one token, which the first has revoked
      if (title.endsWith("/revoke") && caller === "agent, own session") await bench.renew();
      const status = await bench.ask(caller, method, path, body);
      const seen = [401, 403, 500].includes(status) ? `${status}` : "yes";
      expect([caller, seen]).toEqual([caller, cells[CALLERS.indexOf(caller)] ?? ""]);
    }
  },
);

/** The scopes that allow what requires one. */
const ALLOWING: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ["read", "write"],
  write: ["write"],
  "git:read": ["read", "write", "git:read", "git:write"],
  "git:write": ["write", "git:write"],
  checks: ["write", "checks"],
};

/** Requests of git, which the table does not have one by one. */
const GIT: Row[] = [
  "GET /v1/git/:projectId.git/info/refs?service=git-receive-pack",
  "POST /v1/git/:projectId.git/git-receive-pack",
  "POST /v1/git/:projectId.git/git-upload-pack",
].map((title) => {
  const [method = "", path = ""] = title.split(" ");
  return { title, method, path, cells: ["yes"], heldBy: "" };
});

/** The scope that a route requires, as docs/security.md says it; null: any token is enough. */
function scopeOf({ title, method, path }: Row): Scope | null {
  if (/\/auth\/(whoami|revoke)$/.test(path)) return null;
  if (path.includes("/git/:projectId.git/")) return title.includes("receive-pack") ? "git:write" : "git:read";
  if (/^(PATCH|POST) \S+\/(statuses\/:sha|check-runs(\/:checkRunId)?)$/.test(title)) return "checks";
  if (path.startsWith("/v1/p/") || path.endsWith("/git/clone-credential")) return "write";
  return method === "GET" ? "read" : "write";
}

test("a token without the scope that a route requires is refused, and one with it is not", async () => {
  if (!isWhole) await bench.renew();
  const tokens = await bench.scopedTokens();
  const wrong: unknown[] = [];
  for (const row of [...ROWS, ...GIT].filter(({ cells }) => cells.at(-1) === "yes")) {
    const { title, method, path } = row;
    const required = scopeOf(row);
    const refused = SCOPES.filter((scope) => required !== null && !ALLOWING[required].includes(scope));
    const allowed =
      ENDING.includes(title) || method === "DELETE"
        ? []
        : drawn(SCOPES.filter((scope) => !refused.includes(scope)));
    // that one which only reads changes nothing is in every run
    const kept = refused.filter((scope) => scope === "read");
    const others = drawn(refused.filter((scope) => scope !== "read"));
    for (const scope of [...kept, ...others, ...allowed]) {
      const body = method === "GET" ? undefined : (BODIES[title] ?? {});
      const status = await bench.askWith(tokens[scope], method, path, body);
      if ((status === 403) !== refused.includes(scope)) wrong.push([title, scope, status]);
    }
  }
  expect(wrong).toEqual([]);
});
