import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session, WaitingFor } from "../../src/contract/session.ts";
import { ADA } from "../helpers/authors.ts";
import { approval, changeRequest, changesRequested, failure, fakeApi, USER_ID } from "../helpers/cli-api.ts";
import { makeHome, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { booting, SESSION_ID, session } from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const BEN = "99999999-9999-4999-8999-999999999999";
const idOf = (digit: string) => SESSION_ID.replace("1a2b3c4d", digit.repeat(8));
const WAITING: WaitingFor = {
  request_id: "per_1",
  kind: "permission",
  kept: false,
  permission: "bash",
  patterns: ["rm \x1b[2J"],
  questions: [],
};

const working = session({ session_id: idOf("a"), name: "Works", activity: "working" });
const waiting = session({ session_id: idOf("b"), name: "Waits", activity: "waiting", waiting_for: WAITING });
const theirs = session({ session_id: idOf("c"), created_by: BEN, activity: "waiting", waiting_for: WAITING });
const kept = session({
  ...{ session_id: idOf("e"), name: "Waits, stopped", status: "stopped", stop_reason: "waiting" },
  ...{ activity: "waiting", waiting_for: { ...WAITING, kept: true } },
});
const stopped = session({ session_id: idOf("f"), status: "stopped", stop_reason: "idle", activity: null });
const starting = booting("image", { session_id: idOf("d"), name: "Starts" });

function answers(sessions: readonly Session[]) {
  api.on("GET /projects/:p/sessions", ({ query }) => ({
    sessions: sessions.filter(({ status }) => status === query["status"]),
  }));
}

test("shows my sessions, those that wait first, my change requests, and those to review", async () => {
  answers([working, waiting, theirs, starting, kept, stopped]);
  const byBen = { created_by: BEN };
  api.on("GET /projects/:p/change-requests", ({ query }) => ({
    change_requests:
      query["status"] === "open"
        ? [
            changeRequest({ number: 3 }),
            changeRequest({ number: 4, ...byBen }),
            // approved by me, or by enough others
            changeRequest({ number: 5, ...byBen, approvals: [approval()], required_approvals: 2 }),
            changeRequest({
              number: 6,
              ...byBen,
              approvals: [{ ...approval(), user_id: BEN }],
              required_approvals: 1,
            }),
            // my approval is of an earlier commit
            changeRequest({ number: 7, ...byBen, approvals: [approval(false)], required_approvals: 1 }),
            changeRequest({ number: 10, ...byBen, draft: true }),
            // I have requested changes of its last commit, and of an earlier one
            changeRequest({ number: 8, ...byBen, approvals: [changesRequested()] }),
            changeRequest({
              number: 9,
              ...byBen,
              approvals: [{ ...changesRequested(), head_commit_sha: "c".repeat(40) }],
            }),
          ]
        : [],
  }));
  const { code, stdout } = await svc(["status"], { env: api.env });
  expect(code).toBe(0);
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((row) => row.split("\t"));
  expect(rows.slice(0, 4).map(([name]) => name)).toEqual(["host", "user", "account", "project"]);
  expect(rows.slice(4).map(([kind, id, , state]) => [kind, id, state])).toEqual([
    ["session", idOf("b"), "waiting"],
    ["session", idOf("e"), "waiting"],
    ["session", idOf("a"), "working"],
    ["session", idOf("d"), "provisioning"],
    ["cr", "3", "none"],
    ["review", "4", "none"],
    ["review", "7", "none"],
    ["review", "9", "none"],
  ]);
  expect(stdout).toContain("\tpermission for bash rm \\x1b[2J\n");
  const json = JSON.parse((await svc(["status", "--json"], { env: api.env })).stdout);
  expect(json).toMatchObject({
    email: "ada@example.com",
    account: { slug: "ada" },
    project: { slug: "shop" },
    sessions: [
      { activity: "waiting", waiting_for: WAITING },
      { stop_reason: "waiting", waiting_for: { kept: true } },
      { activity: "working" },
      { step: "image" },
    ],
    change_requests: [{ number: 3, created_by: USER_ID }],
    to_review: [{ number: 4 }, { number: 7 }, { number: 9 }],
  });
});

test("is a few lines on a terminal, with the command that answers", async () => {
  answers([working, waiting]);
  api.on("GET /projects/:p/change-requests", () => ({ change_requests: [changeRequest()] }));
  const terminal = svcOnTerminal(["status"], { env: { ...api.env, NO_COLOR: "1" } });
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  const screen = terminal.screen().replaceAll("\r\n", "\n");
  expect(screen).toMatch(/^project: +shop \(Shop\)$/m);
  expect(screen).toMatch(/^bbbbbbbb {2}Waits {2}waiting {2}.* ago {2}permission for bash rm \\x1b\[2J$/m);
  expect(screen).toMatch(/^#3 {2}Fix the login page {2}none {4}0 approvals$/m);
  expect(screen).toContain("Waits waits: svc sessions answer bbbbbbbb");
  expect(screen).not.toContain("To review");
});

test("without a project, shows the host and the account, and how to link one", async () => {
  const { SVC_PROJECT_ID: _, ...env } = api.env;
  const ran = await svc(["status"], { env });
  expect(ran.code).toBe(0);
  expect(ran.stdout).toContain("project\tnone\n");
  expect(ran.stderr).toContain("svc projects link");
  expect(api.seen.some(({ path }) => path.includes("/sessions"))).toBe(false);
  const json = JSON.parse((await svc(["status", "--json"], { env })).stdout);
  expect(json).toMatchObject({ project: null, sessions: [], change_requests: [], to_review: [] });
});

test("another failure to read the project is one, and an empty one has a next step", async () => {
  api.on("GET /projects/:p", () => failure("not_found", "The project was not found.", 404));
  expect(await svc(["status"], { env: api.env })).toMatchObject({ code: 1, stdout: "" });
  api.reset();
  const { SVC_PROJECT_ID: _, ...env } = api.env;
  const home = makeHome();
  mkdirSync(join(home.cwd, ".svc"));
  writeFileSync(join(home.cwd, ".svc/link.json"), "{");
  const broken = await svc(["status"], { home, env });
  expect(broken).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("code: link_invalid"),
  });
  answers([{ ...working, author: ADA, status: "stopped" }]);
  api.on("GET /projects/:p/change-requests", () => ({ change_requests: [] }));
  const ran = await svc(["status"], { env: api.env });
  expect(ran.stderr).toContain("svc sessions new --prompt");
});
