import { afterAll, beforeAll, expect } from "bun:test";
import type { Answer } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { Change } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let bob: string;
let cleo: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
  bench.remote.commit("main", {
    CODEOWNERS:
      "/b/ bob@example.com\n/c/ @cleo\n/own/ first@example.com @nobody\n/all/ bob@example.com @cleo\n",
  });
});
afterAll(() => bench?.stop());

type Cr = Answer["body"];
let branches = 0;

/** A change request of these files. */
async function open(files: Record<string, Change>, more: object = {}, token = bench.api.token): Promise<Cr> {
  const head_ref = `owned-${++branches}`;
  bench.remote.commit(head_ref, files, { from: "main" });
  const made = await bench.call("POST", "/change-requests", {
    token,
    body: { title: "t", head_ref, ...more },
  });
  expect(made.status).toBe(201);
  return made.body;
}

const edit = (cr: Cr, body: object) => bench.call("PATCH", `/change-requests/${cr.number}`, { body });
const requested = async (cr: Cr): Promise<string[]> => {
  const { body } = await bench.call("GET", `/change-requests/${cr.number}`);
  return body.change_request.requested_reviewers.map(({ name }: { name: string }) => name);
};
const become = (cr: Cr, ...names: string[]) =>
  until(`${names.join(" and ") || "nobody"} is requested`, async () => {
    const now = await requested(cr);
    return now.toSorted().join() === names.join();
  });
const notified = async (token: string): Promise<number[]> => {
  const { body } = await bench.api.call("GET", "/v1/accounts/notifications", { token });
  return body.notifications
    .filter(({ event }: Cr) => event === "cr.review_requested")
    .map(({ change_request }: Cr) => change_request);
};
/** Once the worker has seen all heads until now: it takes the oldest first. */
async function settled(): Promise<void> {
  await become(await open({ "b/last": "1" }), "bob");
}

test("owners are requested when it is opened, also by name, and notified", async () => {
  const cr = await open({ "b/1": "1", "c/1": "1", free: "1" });
  await become(cr, "bob", "cleo");
  expect(await notified(bob)).toContain(cr.number);
  expect(await notified(cleo)).toContain(cr.number);
});

test("who opened it, who was requested already and who reviewed it are not requested by the file", async () => {
  const own = await open({ "own/1": "1", "b/2": "1" }, {}, bob);
  const given = await open({ "all/1": "1" }, { requested_reviewers: ["bob@example.com"] });
  await become(given, "bob", "cleo");
  expect((await notified(bob)).filter((number) => number === given.number).length).toBe(1);
  await become(own, "first");
  expect(await notified(bench.api.token)).toContain(own.number);
});

test("a draft is not reviewed until it is ready", async () => {
  const cr = await open({ "b/3": "1" }, { draft: true });
  await settled();
  expect(await requested(cr)).toEqual([]);
  await edit(cr, { draft: false });
  await become(cr, "bob");
});

test("a push requests the owners of newly changed files, and nobody twice", async () => {
  const cr = await open({ "b/4": "1" });
  await become(cr, "bob");
  await edit(cr, { remove_requested_reviewers: ["bob@example.com"] });
  bench.remote.commit(cr.head_ref, { "c/4": "1" });
  await become(cr, "cleo");
  bench.remote.commit(cr.head_ref, { "b/5": "1", "c/5": "1" });
  await bench.call("POST", `/change-requests/${cr.number}/approve`, { token: cleo });
  await become(cr);
  await settled();
  expect(await requested(cr)).toEqual([]);
});

test("at most as many are requested as a change request can have", async () => {
  const emails = Array.from({ length: 16 }, (_, at) => `m${String(at).padStart(2, "0")}@example.com`);
  for (const email of emails) await bench.member(email);
  bench.remote.commit("main", { CODEOWNERS: `* ${emails.join(" ")}\n` });
  const cr = await open({ many: "1" });
  await become(cr, ...emails.slice(0, 15).map((email) => email.replace(/@.*/, "")));
});
