import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Session } from "../../src/contract/session.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { engineAway } from "../helpers/stand-in-provider.ts";
import { until } from "../helpers/until.ts";

const SLOTS = 3;
const CREATED = 12;

let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_STARTS_AT_ONCE: String(SLOTS), SVC_SESSION_CAP: "100" } });
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.provider.onStart = () => {};
  bench.provider.onCall = () => {};
});

const list = async (): Promise<Session[]> => (await bench.call("GET", "?limit=100")).body.sessions;
const waiting = async () => (await list()).filter(({ step }) => step === "waiting");
const places = (sessions: readonly Session[]) =>
  sessions.map(({ blocked_on: blocked }) => blocked?.position ?? 0).sort((a, b) => a - b);

test(`${CREATED} sessions that are created at once all run, a few at a time; the others say at which place they wait`, async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let under = 0;
  let most = 0;
  bench.provider.onStart = async (_, signal) => {
    most = Math.max(most, ++under);
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    await Promise.race([released, ended]);
    under--;
  };
  const created = await Promise.all(Array.from({ length: CREATED }, () => bench.create()));
  const queued = CREATED - SLOTS;
  await until("all others have a place", async () => {
    const found = await waiting();
    return places(found).join() === Array.from({ length: queued }, (_, index) => index + 1).join();
  });
  const [first, second, third] = (await waiting()).toSorted(
    (a, b) => (a.blocked_on?.position ?? 0) - (b.blocked_on?.position ?? 0),
  );
  expect(first?.blocked_on).toEqual({
    kind: "queue",
    message: `Waiting to start: place 1 of ${queued} in the queue of this server.`,
    position: 1,
    length: queued,
  });

  // a queued start can be stopped and deleted, and the others move up
  await bench.call("POST", `/${second?.session_id}/stop`);
  expect(await bench.becomes(second?.session_id ?? "", "stopped")).toMatchObject({ blocked_on: null });
  expect((await bench.call("DELETE", `/${first?.session_id}`)).status).toBe(200);
  await until("the third is the first", async () => {
    const { blocked_on: blocked } = await bench.get(third?.session_id ?? "");
    return blocked?.position === 1 && blocked.length === queued - 2;
  });

  // another project does not wait for all of them
  const other = await bench.api.project(bench.remote.url, { name: "Other" });
  const path = `/v1/projects/${other.project_id}/sessions`;
  const { body: own } = await bench.api.call("POST", path, { body: {} });
  await until("it is the next", async () => {
    const { body } = await bench.api.call("GET", `${path}/${own.session_id}`);
    return body.blocked_on?.position === 1;
  });

  expect([under, most]).toEqual([SLOTS, SLOTS]);
  release();
  const left = created.filter(
    (session) => ![first, second].some((one) => one?.session_id === session.session_id),
  );
  await Promise.all(left.map(({ session_id }) => bench.becomes(session_id, "running")));
  expect((await list()).filter(({ blocked_on: blocked }) => blocked !== null)).toEqual([]);
  expect(most).toBe(SLOTS);
  for (const { session_id } of left) await bench.call("DELETE", `/${session_id}`);
});

test("a start waits while the engine is away, says so, and goes on when it is back", async () => {
  bench.provider.onStart = engineAway;
  const [one, two] = [await bench.create(), await bench.create()];
  const blocked = { kind: "engine", message: "Cannot connect to Docker.", position: null, length: null };
  // while an attempt runs, it does not
  for (const { session_id } of [one, two])
    await until("it waits", async () => {
      const { status, error, blocked_on } = await bench.get(session_id);
      return Bun.deepEquals(
        { status, error, blocked_on },
        { status: "provisioning", error: null, blocked_on: blocked },
      );
    });
  // it has given its slot back, and can be stopped
  await bench.call("POST", `/${two.session_id}/stop`);
  await bench.becomes(two.session_id, "stopped");
  bench.provider.onStart = () => {};
  expect(await bench.becomes(one.session_id, "running", "failed")).toMatchObject({
    status: "running",
    blocked_on: null,
  });
  const { lines } = (await bench.call("GET", `/${one.session_id}/logs`)).body;
  expect(lines.map(({ text }: { text: string }) => text)).toContain(
    "Cannot connect to Docker. Retrying in 1 s.",
  );
});

test("a running session says that its engine is away, and that it is back", async () => {
  const { session_id: id } = await bench.create();
  await bench.becomes(id, "running");
  bench.provider.onCall = (method) => {
    if (method === "list") engineAway();
  };
  await until("it says so", async () => {
    bench.look();
    return (await bench.get(id)).blocked_on?.kind === "engine";
  });
  expect(await bench.get(id)).toMatchObject({ status: "running", error: null });
  bench.provider.onCall = () => {};
  await until("it does not any more", async () => {
    bench.look();
    return (await bench.get(id)).blocked_on === null;
  });
  expect((await bench.get(id)).status).toBe("running");
});
