import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cron, startTriggers, type TriggerBench } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

const CAP = 3;
let svc: TriggerBench;
beforeAll(async () => {
  svc = await startTriggers("2026-03-01T12:00:30Z", { env: { SVC_SESSION_CAP: String(CAP) } });
});
afterAll(() => svc.stop());

const sessions = async () => {
  const { body } = await svc.api.call("GET", `/v1/projects/${svc.projectId}/sessions`);
  return body.sessions;
};
const endSessions = async () => {
  // a trigger that has fired may only now come to its session
  await until("all are gone", async () => {
    const left = await sessions();
    for (const { session_id } of left)
      await svc.api.call("DELETE", `/v1/projects/${svc.projectId}/sessions/${session_id}`);
    return left.length === 0;
  });
};
const states = async (slug: string) =>
  (await svc.firings(slug)).map(({ state, due_at, due_until }) =>
    [state, due_at, due_until].filter(Boolean).join(" ").replaceAll(":00.000Z", ""),
  );
const settled = (slug: string) =>
  until("nothing waits", async () => (await svc.firings(slug)).every(({ state }) => state !== "waiting"));

test("a trigger of the default branch fires when it is due, once, as a session of the account's owner", async () => {
  await svc.have(cron("nightly", "0 13 * * *", 'name = "Night work"\nagent = "build"\ntimezone = "UTC"\n'));
  expect(await svc.get("nightly")).toMatchObject({
    type: "cron",
    enabled: true,
    next_fire_at: "2026-03-01T13:00:00.000Z",
    last_fired_at: null,
    webhook_url: null,
    firings: [],
  });
  await svc.goTo("2026-03-01T12:59:59Z");
  expect(await sessions()).toEqual([]);
  await svc.goTo("2026-03-01T13:00:00Z");
  await settled("nightly");
  const [firing] = await svc.firings("nightly");
  const [session, ...others] = await sessions();
  expect(others).toEqual([]);
  expect(firing).toMatchObject({ state: "fired", source: "cron", due_at: "2026-03-01T13:00:00.000Z" });
  expect(session).toMatchObject({ session_id: firing?.session_id, name: "Night work", agent_name: "build" });
  const { body } = await svc.api.call("GET", "/v1/accounts/me");
  expect(session.created_by).toBe(body.user_id);
  await until("it is told", () => svc.provider.sandboxes.get(session.session_id)?.prompts.length === 1);
  expect(svc.provider.sandboxes.get(session.session_id)?.prompts[0]?.text).toBe("Do nightly.");
  expect(await svc.get("nightly")).toMatchObject({
    next_fire_at: "2026-03-02T13:00:00.000Z",
    last_fired_at: "2026-03-01T13:00:00.000Z",
    last_error: null,
  });
  await endSessions();
});

describe("after a time without any server", () => {
  test("the last due time of the past hour fires, and the others are missed", async () => {
    await svc.goTo("2026-03-04T00:00:00Z");
    await svc.have(cron("often", "*/10 * * * *"), cron("daily", "30 7 * * *"));
    await svc.goTo("2026-03-04T08:05:00Z");
    await settled("often");
    await settled("daily");
    expect(await states("often")).toEqual([
      "missed 2026-03-04T00:10 2026-03-04T07:50",
      "fired 2026-03-04T08:00",
    ]);
    expect(await states("daily")).toEqual(["fired 2026-03-04T07:30"]);
    await endSessions();
  });

  test("a trigger that was due longer ago is missed", async () => {
    await svc.goTo("2026-03-06T09:00:00Z");
    await settled("daily");
    await settled("often");
    expect(await states("daily")).toEqual([
      "fired 2026-03-04T07:30",
      "missed 2026-03-05T07:30 2026-03-06T07:30",
    ]);
    expect((await svc.get("daily")).next_fire_at).toBe("2026-03-07T07:30:00.000Z");
    await endSessions();
  });
});

describe("a change of the manifest takes effect at once", () => {
  test("a trigger that is disabled, removed or has another schedule is no longer due at its old time", async () => {
    await svc.goTo("2026-04-01T00:00:00Z");
    await svc.have(cron("one", "0 1 * * *"), cron("two", "0 1 * * *"), cron("three", "0 1 * * *"));
    await svc.have(cron("one", "0 1 * * *", "enabled = false\n"), cron("three", "0 2 * * *"));
    expect((await svc.call("GET", "/two")).status).toBe(404);
    expect(await svc.get("one")).toMatchObject({ enabled: false, next_fire_at: null });
    await svc.goTo("2026-04-01T01:00:00Z");
    await svc.goTo("2026-04-01T02:00:00Z");
    await settled("three");
    expect([await states("one"), await states("three")]).toEqual([[], ["fired 2026-04-01T02:00"]]);
    await endSessions();
  });

  test("an unchanged trigger keeps its times, whatever else is merged", async () => {
    const next = (await svc.get("three")).next_fire_at;
    await svc.goTo("2026-04-01T05:00:00Z");
    await svc.have(cron("other", "0 0 1 1 *"), cron("three", "0 2 * * *"));
    expect((await svc.get("three")).next_fire_at).toBe(next);
    expect(await states("three")).toEqual(["fired 2026-04-01T02:00"]);
  });

  test("a manifest that is not valid TOML changes nothing, and is reported", async () => {
    svc.remote.commit("main", { "svc.toml": "[[triggers\n" });
    await svc.api.call("PATCH", `/v1/projects/${svc.projectId}`, { body: { name: "Example" } });
    await until("it is told of", async () => (await svc.call("GET", "")).body.errors.length > 0);
    const { body } = await svc.call("GET", "");
    expect(body.triggers.map(({ slug }: { slug: string }) => slug)).toEqual(["other", "three"]);
    expect(body.errors[0]).toMatchObject({ severity: "error", line: 1 });
  });
});

test("a trigger whose agent is not on the default branch reports that, and starts nothing", async () => {
  await svc.have(cron("lost", "0 6 * * *", 'agent = "nobody"\n'));
  const { last_error } = await svc.get("lost");
  expect(last_error).toMatch(/^Agent "nobody" not found/);
  await svc.goTo("2026-04-02T06:00:00Z");
  await settled("lost");
  const failed = { state: "failed", error: last_error, session_id: null };
  expect((await svc.firings("lost")).at(-1)).toMatchObject(failed);
  expect((await svc.call("POST", "/lost/fire")).status).toBe(400);
  expect(await sessions()).toEqual([]);
});

describe("at the account's session limit", () => {
  test("firings wait, and fire in order when a slot is free; after an hour they are skipped", async () => {
    await svc.goTo("2026-05-01T00:00:30Z");
    await svc.have(cron("minutely", "* * * * *"));
    for (let minute = 1; minute <= CAP + 3; minute++) await svc.goTo(`2026-05-01T00:0${minute}:00Z`);
    const inOrder = () => svc.firings("minutely").then((all) => all.map(({ state }) => state));
    const wanted = [...Array(CAP).fill("fired"), "waiting", "waiting", "waiting"];
    await until("those that have a place have fired", async () => Bun.deepEquals(await inOrder(), wanted));
    const [first] = await sessions();
    await svc.api.call("DELETE", `/v1/projects/${svc.projectId}/sessions/${first.session_id}`);
    await until(
      "the next has fired",
      async () => (await inOrder()).filter((s) => s === "fired").length === CAP + 1,
    );
    expect(await inOrder()).toEqual([...Array(CAP + 1).fill("fired"), "waiting", "waiting"]);

    await svc.have(cron("minutely", "* * * * *", "enabled = false\n"));
    await svc.goTo("2026-05-01T01:06:30Z");
    await until("they are skipped", async () => !(await inOrder()).includes("waiting"));
    const skipped = (await svc.firings("minutely")).filter(({ state }) => state === "skipped");
    expect(skipped).toHaveLength(2);
    expect(skipped[0]?.error).toMatch(/at its session limit for an hour/);
    expect((await svc.get("minutely")).last_error).toBe(skipped[0]?.error ?? "");
    await endSessions();
  });
});

describe("by hand", () => {
  test("it fires at once, as the caller's session, with the text", async () => {
    await svc.have(cron("hand", "0 0 1 1 *", "enabled = false\n"));
    const { status, body } = await svc.call("POST", "/hand/fire", { body: { text: "Only the tests." } });
    expect([status, body.status]).toEqual([202, "fired"]);
    await until("it is told", () => svc.provider.sandboxes.get(body.session_id)?.prompts.length === 1);
    expect(svc.provider.sandboxes.get(body.session_id)?.prompts[0]?.text).toBe("Do hand.\n\nOnly the tests.");
    expect((await svc.firings("hand")).at(-1)).toMatchObject({ source: "manual", state: "fired" });
  });

  test("at the limit it waits, and reports that", async () => {
    while ((await sessions()).length < CAP) await svc.call("POST", "/hand/fire");
    const { status, body } = await svc.call("POST", "/hand/fire");
    expect([status, body.status]).toEqual([202, "waiting"]);
    const [one] = await sessions();
    await svc.api.call("DELETE", `/v1/projects/${svc.projectId}/sessions/${one.session_id}`);
    const ids = async () => (await sessions()).map(({ session_id }: { session_id: string }) => session_id);
    await until("it has fired", async () => (await ids()).includes(body.session_id));
    await endSessions();
  });

  test.each([
    ["GET", "/none", undefined, 404],
    ["POST", "/none/fire", undefined, 404],
    ["POST", "/hand/fire", { text: "" }, 400],
    ["POST", "/hand/fire", { text: "x".repeat(70_000) }, 400],
    ["GET", "/%00", undefined, 404],
  ])("%s %s is refused", async (method, path, body, status) => {
    expect((await svc.call(method, path, { body })).status).toBe(status);
  });

  test("another user is refused before anything is read", async () => {
    const other = await svc.api.mint("stranger@example.com");
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/hand"],
      ["POST", "/hand/fire"],
    ] as const) {
      expect((await svc.call(method, path, { token: null })).status).toBe(401);
      expect((await svc.call(method, path, { token: other })).status).toBe(403);
    }
  });
});
