import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPostgres } from "../../db/client.ts";
import { appDomains, apps, projects } from "../../db/schema/index.ts";
import {
  NOTIFICATION_EVENTS,
  NOTIFICATION_WAYS,
  type NotificationEvent,
  type NotificationWay,
} from "../../src/contract/notification-event.ts";
import { notifyOfLoss } from "../../src/features/apps/domains/lost.ts";
import { entryOf } from "../helpers/apps.ts";
import { type NotificationBench, startNotifications } from "../helpers/notifications.ts";
import type { PushedBrowser } from "../helpers/push-service.ts";
import { generator, pick, SEED, sample, share } from "../helpers/random.ts";
import { followedSession } from "../helpers/runtime-host.ts";
import { until } from "../helpers/until.ts";

let bench: NotificationBench;
let bob: string;
let browser: PushedBrowser;

beforeAll(async () => {
  bench = await startNotifications();
  bob = await bench.member("bob@example.com");
  browser = await bench.addBrowser();
});
afterAll(() => bench.stop());

const follow = () => followedSession(bench.sessions, bench.runtimeOf);
const post = (path: string, body: object, token?: string) =>
  bench.sessions.api.call("POST", `/v1/projects/${bench.sessions.projectId}${path}`, {
    body,
    ...(token !== undefined && { token }),
  });

/** Makes each event happen, for the first user. @returns its page */
const ACTS: Readonly<Record<NotificationEvent, () => Promise<string>>> = {
  async "session.waiting"() {
    const { id, runtime } = await follow();
    runtime.setBusy(true);
    runtime.ask("permission", { id: "per_1", permission: "bash", patterns: ["rm *"] });
    await until("the agent waits", async () => (await bench.sessions.get(id)).activity === "waiting");
    return `/sessions/${id}`;
  },
  async "session.done"() {
    const { id, runtime } = await follow();
    runtime.setBusy(true);
    await until("the agent works", async () => (await bench.sessions.get(id)).activity === "working");
    runtime.setBusy(false);
    await until("the agent is idle", async () => (await bench.sessions.get(id)).activity === "idle");
    return `/sessions/${id}`;
  },
  async "cr.opened"() {
    const { token } = (await post("/cli-token", { name: "script" })).body;
    return `/change-requests/${(await bench.open({ token })).number}`;
  },
  async "check.failed"() {
    const { number, head_commit_sha } = await bench.open();
    for (const context of ["test", "lint"]) {
      const made = await post(`/statuses/${head_commit_sha}`, { state: "failure", context });
      expect(made.status).toBe(201);
    }
    return `/change-requests/${number}`;
  },
  async "cr.commented"() {
    const { number } = await bench.open();
    expect((await post(`/change-requests/${number}/comments`, { body: "Why?" }, bob)).status).toBe(201);
    return `/change-requests/${number}`;
  },
  async "cr.approved"() {
    const { number } = await bench.open();
    expect((await post(`/change-requests/${number}/approve`, {}, bob)).status).toBe(200);
    return `/change-requests/${number}`;
  },
  async "cr.changes_requested"() {
    const { number } = await bench.open();
    const said = await post(`/change-requests/${number}/request-changes`, { body: "Say why." }, bob);
    expect(said.status).toBe(200);
    return `/change-requests/${number}`;
  },
  async "cr.review_requested"() {
    const { number } = await bench.open({ token: bob });
    const { user_id } = (await bench.sessions.api.call("GET", "/v1/accounts/me")).body;
    for (const add_requested_reviewers of [[user_id], [user_id]]) {
      const at = `/v1/projects/${bench.sessions.projectId}/change-requests/${number}`;
      const body = { add_requested_reviewers };
      expect((await bench.sessions.api.call("PATCH", at, { body, token: bob })).status).toBe(200);
    }
    return `/change-requests/${number}`;
  },
  async "cr.dequeued"() {
    requireChecks("[merge]\nqueue = true\n");
    const { number } = await bench.open();
    expect((await post(`/change-requests/${number}/merge`, {})).status).toBe(202);
    expect((await post(`/change-requests/${number}/close`, {})).status).toBe(200);
    return `/change-requests/${number}`;
  },
  async "cr.auto_merge_disabled"() {
    requireChecks();
    const { number, head_commit_sha } = await bench.open();
    const at = `/v1/projects/${bench.sessions.projectId}/change-requests/${number}`;
    const asked = await bench.sessions.api.call("PUT", `${at}/auto-merge`, { body: { head_commit_sha } });
    expect(asked.status).toBe(200);
    expect((await post(`/change-requests/${number}/close`, {})).status).toBe(200);
    return `/change-requests/${number}`;
  },
  async "app.domain_lost"() {
    const { db, close } = await openPostgres(bench.sessions.api.databaseUrl ?? "");
    const [project] = await db.select().from(projects);
    if (!project) throw new Error("the project is not there");
    const slug = `site-${crypto.randomUUID()}`;
    const [app] = await db
      .insert(apps)
      .values({
        ...{ projectId: project.projectId, slug, label: slug, entry: entryOf({ slug }), entryHash: "" },
        ...{ commit: "", presence: "enabled" },
      })
      .returning();
    const now = new Date();
    const [before] = await db
      .insert(appDomains)
      .values({
        ...{ accountId: project.accountId, domain: `${slug}.example.com`, appId: app?.appId ?? "" },
        ...{ provenAt: now, nextCheckAt: new Date(now.getTime() + 86_400_000) },
      })
      .returning();
    if (!before) throw new Error("the domain is not there");
    await db.transaction((tx) => notifyOfLoss(tx, before, { provenAt: now, lostAt: now }, now));
    await close();
    return `/apps/${slug}`;
  },
};

/** No change request is merged before this check passes. */
function requireChecks(more = ""): void {
  const manifest = `svc_version = 1\n${more}[checks]\nrequired = ["test"]\n`;
  bench.sessions.remote.commit("main", { "svc.toml": manifest });
}

/** Every combination of ways. */
const CHOICES: NotificationWay[][] = [1, 2, 3, 4, 5, 6, 7].map((bits) =>
  NOTIFICATION_WAYS.filter((_, place) => (bits >> place) & 1),
);

const random = generator(SEED);
const rows = NOTIFICATION_EVENTS.flatMap((event) =>
  pick(share(1, CHOICES.length), CHOICES, random).map((ways) => ({ event, ways })),
);
const unwanted = sample(2, NOTIFICATION_EVENTS).map((event) => ({ event, ways: [] }));

test.each([...rows, ...unwanted])("$event with $ways is sent so, once", async ({ event, ways }) => {
  const count = async () => ({
    page: (await bench.list()).length,
    push: browser.messages.length,
    email: bench.smtp.mails.length,
  });
  await bench.choose(event, ways);
  const before = await count();
  const page = await ACTS[event]();
  bench.pass(6);
  const expected = {
    page: before.page + Number(ways.includes("page")),
    push: before.push + Number(ways.includes("push")),
    email: before.email + Number(ways.includes("email")),
  };
  let last = before;
  await until(
    () => `${JSON.stringify(expected)}, and not ${JSON.stringify(last)}`,
    async () => {
      last = await count();
      return Bun.deepEquals(last, expected);
    },
  );
  if (ways.includes("push")) expect(browser.messages.at(-1)?.url).toBe(`/projects/example${page}`);
  if (ways.includes("page")) {
    const [newest] = await bench.list();
    expect(newest).toMatchObject({ event, read_at: null });
    expect(newest?.url.endsWith(`/projects/example${page}`)).toBe(true);
  }
  expect(await bench.list(bob)).toEqual([]);
  await bench.choose(event, []);
});
