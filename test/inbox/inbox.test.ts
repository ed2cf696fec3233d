import { afterAll, beforeAll, expect } from "bun:test";
import { eq } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { changeRequests, projectSessions } from "../../db/schema/index.ts";
import type { BoardSession, Inbox } from "../../src/contract/inbox.ts";
import { READ_MAX, RECENT_DAYS } from "../../src/features/inbox/limits.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { asks, type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { changeRun, insertSession, type RunValues } from "../helpers/session-row.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let database: Database;
let bob: string;
let cleo: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  database = await openPostgres(bench.api.databaseUrl ?? "");
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
});
afterAll(async () => {
  await database?.close();
  await bench?.stop();
});

const inbox = async (token = bench.api.token): Promise<Inbox> =>
  (await bench.api.call("GET", "/v1/accounts/inbox", { token })).body;
const idOf = async (token: string): Promise<string> =>
  (await bench.api.call("GET", "/v1/accounts/me", { token })).body.user_id;
/** Why a change request is in a person's inbox, and what it says. */
const whyOf = async ({ number }: { number: number }, token?: string) => {
  const item = (await inbox(token)).items.find((each) => each.change_request === number);
  return item && `${item.reason}: ${item.text}`;
};
const approve = (cr: { number: number }, token: string) =>
  bench.call("POST", `/change-requests/${cr.number}/approve`, { token });
/** Has svc read the branches of a change request. */
const refresh = (cr: { number: number }) => bench.call("GET", `/change-requests/${cr.number}`);
const report = (sha: string, context: string, state: string) =>
  bench.call("POST", `/statuses/${sha}`, { body: { context, state } });

test("another's change request waits for a review until its head is approved, and again after a push", async () => {
  const cr = await bench.open();
  const [item] = (await inbox(bob)).items;
  expect(item).toEqual({
    reason: "review",
    project_id: bench.project.project_id,
    project_slug: "example",
    project_name: "Example",
    session_id: null,
    change_request: cr.number,
    title: "t",
    text: "From first",
    url: cr.url,
    since: cr.updated_at,
  });
  expect(await whyOf(cr)).not.toStartWith("review");
  await approve(cr, bob);
  expect(await whyOf(cr, bob)).toBeUndefined();
  expect(await whyOf(cr, cleo)).toBeUndefined();
  bench.remote.commit(cr.head_ref, { more: "1\n" });
  await refresh(cr);
  expect(await whyOf(cr, bob)).toBe("review: From first");
  expect(await whyOf(cr, cleo)).toBe("review: From first");
  await bench.call("POST", `/change-requests/${cr.number}/close`);
  expect(await whyOf(cr, bob)).toBeUndefined();
});

test("it waits until it has the approvals that the project requires, and says that an agent opened it", async () => {
  bench.rule(asks(2));
  const cr = await bench.open(await bench.agent());
  expect(await whyOf(cr, bob)).toBe("review: From an agent of first");
  await approve(cr, cleo);
  expect(await whyOf(cr, bob)).toBe("review: From an agent of first");
  expect(await whyOf(cr, cleo)).toBeUndefined();
  bench.rule(asks(1));
  await refresh(cr);
  await until("the rule is stored", async () => (await whyOf(cr, bob)) === undefined);
  bench.rule(asks(0));
  await refresh(cr);
});

test("one's own is there with conflicts, with failed checks, or when it can be merged", async () => {
  bench.rule(`${asks(1)}self_approval = true\n[checks]\nrequired = ["test"]\n`);
  const cr = await bench.open();
  const sha = bench.remote.sha(cr.head_ref);
  await until(
    "the rule is known",
    async () => (await refresh(cr)).body.change_request.required_approvals === 1,
  );
  // its commits have not been compared
  expect(await whyOf(cr)).toBeUndefined();
  const compare = () => bench.call("GET", `/change-requests/${cr.number}/merge-preview`);
  await compare();
  await approve(cr, bob);
  expect(await whyOf(cr)).toBeUndefined();
  await report(sha, "lint", "success");
  expect(await whyOf(cr)).toBeUndefined();
  await report(sha, "test", "success");
  await until("the comparison is stored", async () => (await whyOf(cr)) !== undefined);
  expect(await whyOf(cr)).toBe("ready: It can be merged into main");
  expect(await whyOf(cr, bob)).toBeUndefined();
  await bench.call("DELETE", `/change-requests/${cr.number}/approve`, { token: bob });
  expect(await whyOf(cr)).toBeUndefined();
  await approve(cr, bob);
  await report(sha, "lint", "pending");
  expect(await whyOf(cr)).toBeUndefined();
  for (const context of ["lint", "test", "e2e", "types"]) await report(sha, context, "failure");
  expect(await whyOf(cr)).toBe("checks_failed: Failed: e2e, lint, test, 1 more");
  bench.remote.commit("main", { [cr.head_ref]: "2\n" });
  await refresh(cr);
  await compare();
  await until("the comparison is stored", async () => (await whyOf(cr))?.startsWith("conflicts") ?? false);
  expect(await whyOf(cr)).toBe("conflicts: It conflicts with main");
  bench.rule(asks(0));
  await refresh(cr);
  // the base has moved, and is not compared yet
  expect(await whyOf(cr)).toStartWith("checks_failed");
});

test("a draft is neither to be reviewed nor ready, and requested changes come first", async () => {
  const cr = await bench.open();
  const at = `/change-requests/${cr.number}`;
  await bench.call("GET", `${at}/merge-preview`);
  await until("the comparison is stored", async () => (await whyOf(cr)) !== undefined);
  await bench.call("PATCH", at, { body: { draft: true } });
  expect([await whyOf(cr), await whyOf(cr, bob)]).toEqual([undefined, undefined]);
  await bench.call("PATCH", at, { body: { draft: false } });
  expect([await whyOf(cr), await whyOf(cr, bob)]).toEqual([
    "ready: It can be merged into main",
    "review: From first",
  ]);
  await bench.call("POST", `${at}/request-changes`, { token: bob, body: { body: "Shorter, please." } });
  expect([await whyOf(cr), await whyOf(cr, bob)]).toEqual(["changes_requested: By bob", undefined]);
  expect(await whyOf(cr, cleo)).toBe("review: From first");
  // a push asks for another review, and does not lift the request
  bench.remote.commit(cr.head_ref, { more: "1\n" });
  await refresh(cr);
  expect([await whyOf(cr), await whyOf(cr, bob)]).toEqual([
    "changes_requested: By bob",
    "review: From first",
  ]);
  await bench.call("POST", `${at}/close`);
});

/** A session of a person, and where it is: why it is in the inbox, and its place on the board. */
async function session(
  values: Partial<typeof projectSessions.$inferInsert>,
  run: RunValues = {},
  token = bench.api.token,
) {
  const { project_id: projectId, account_id: accountId } = bench.project;
  const sessionId = crypto.randomUUID();
  const createdBy = await idOf(token);
  await insertSession(database.db, { sessionId, projectId, accountId, createdBy, ...values }, run);
  const where = async (): Promise<[string | undefined, BoardSession["state"] | undefined]> => {
    const { items, sessions } = await inbox();
    const item = items.find((each) => each.session_id === sessionId);
    const card = sessions.find((each) => each.session_id === sessionId);
    return [item && `${item.reason}: ${item.text}`, card?.state];
  };
  return { sessionId, where };
}

const request = {
  ...{
    request_id: "per_1",
    kind: "permission" as const,
    kept: false,
    permission: "bash",
    patterns: ["rm *"],
  },
  questions: [],
};
const activityAt = new Date();
const tooOld = new Date(Date.now() - (RECENT_DAYS * 86_400 + 60) * 1000);

test("sessions wait, have failed, or are at work; those of others are not there", async () => {
  const at = async (...values: Parameters<typeof session>) => (await session(...values)).where();
  const asked = "waiting: It asks for permission: bash rm *";
  const waiting = { activity: "waiting" as const, activityAt, waitingFor: request };
  expect(await at(waiting)).toEqual([asked, "waiting"]);
  const long = { ...request, patterns: [`${"x".repeat(400)}\n\u202E`] };
  const [text = ""] = await at({ ...waiting, waitingFor: long });
  expect([text.length, text.at(-1)]).toEqual(["waiting: ".length + 300, "…"]);
  const kept = {
    ...{ status: "stopped" as const, keptAt: activityAt },
    keptRequest: { ...request, kept: true },
  };
  expect(await at(kept)).toEqual([asked, "waiting"]);
  expect(await at({ ...kept, updatedAt: tooOld })).toEqual([asked, "waiting"]);
  expect(await at({ status: "provisioning" })).toEqual([undefined, "working"]);
  expect(await at({ activity: "working", activityAt, updatedAt: tooOld })).toEqual([undefined, "working"]);
  expect(await at({ activity: "idle", activityAt })).toEqual([undefined, "done"]);
  expect(await at({ status: "stopped" })).toEqual([undefined, "done"]);
  expect(await at({ status: "stopped", updatedAt: tooOld })).toEqual([undefined, undefined]);
  const failed = { error: "The image is gone." };
  expect(await at({ status: "failed" }, failed)).toEqual(["failed: The image is gone.", undefined]);
  const old = { ...kept, status: "failed" as const, updatedAt: tooOld };
  expect(await at(old, failed)).toEqual([undefined, undefined]);
  expect(await at(waiting, {}, bob)).toEqual([undefined, undefined]);
});

test("a session at rest is in review while its change request is open", async () => {
  const { sessionId, where } = await session({ activity: "idle", activityAt, name: "Login" });
  const cr = await bench.open();
  const { db } = database;
  await db
    .update(changeRequests)
    .set({ originSessionId: sessionId })
    .where(eq(changeRequests.crId, cr.cr_id));
  expect(await where()).toEqual([undefined, "review"]);
  const card = (await inbox()).sessions.find((each) => each.session_id === sessionId);
  expect(card).toMatchObject({ title: "Login", change_request: cr.number, since: activityAt.toISOString() });
  expect(card?.url).toEndWith(`/projects/example/sessions/${sessionId}`);
  await db
    .update(projectSessions)
    .set({ activity: "working" })
    .where(eq(projectSessions.sessionId, sessionId));
  expect(await where()).toEqual([undefined, "working"]);
  await changeRun(db, sessionId, { status: "failed", error: "Gone." });
  expect(await where()).toEqual(["failed: Gone.", "review"]);
  await changeRun(db, sessionId, { status: "running", error: null });
  await bench.call("POST", `/change-requests/${cr.number}/close`);
  await db.update(projectSessions).set({ activity: "idle" }).where(eq(projectSessions.sessionId, sessionId));
  expect(await where()).toEqual([undefined, "done"]);
});

test("items come by reason, then the newest first, from all projects, and at most so many of each", async () => {
  const dora = await bench.member("dora@example.com");
  const other = await bench.api.project(bench.remote.url, { name: "Other" });
  const [mine] = await Promise.all([idOf(bench.api.token)]);
  const row = (number: number) => ({
    ...{
      accountId: other.account_id,
      projectId: other.project_id,
      createdBy: mine,
      number,
      title: `T${number}`,
    },
    ...{ baseRef: "main", headRef: `h${number}`, updatedAt: new Date(Date.now() + number * 1000) },
  });
  const { db } = database;
  await db.insert(changeRequests).values(Array.from({ length: READ_MAX }, (_, at) => row(at + 1)));
  const full = await inbox(dora);
  expect(full.truncated).toBe(true);
  expect(full.items.map(({ title }) => title)).toEqual(
    Array.from({ length: READ_MAX }, (_, at) => `T${READ_MAX - at}`),
  );
  expect(new Set(full.items.map(({ project_slug }) => project_slug))).toEqual(new Set(["other"]));
  await bench.leave("dora@example.com");
  expect(await inbox(dora)).toEqual({ items: [], sessions: [], truncated: false });
  const { items } = await inbox();
  const order = ["waiting", "review", "changes_requested", "conflicts", "checks_failed", "ready", "failed"];
  const ranks = items.map(({ reason }) => order.indexOf(reason));
  expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
});
