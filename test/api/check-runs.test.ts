import { afterAll, beforeAll, expect } from "bun:test";
import { ANNOTATIONS_MAX, ANNOTATIONS_PER_REQUEST, RUNS_KEPT } from "../../src/contract/check-run.ts";
import { followEvents } from "../helpers/event-stream.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { fc } from "../helpers/property.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
/** A project token, as CI has one. */
let ci: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  ci = await bench.agent();
  bench.rule('svc_version = 1\n[checks]\nrequired = ["test"]\n');
});
afterAll(() => bench?.stop());

const headOf = (cr: { head_ref: string }) => bench.remote.sha(cr.head_ref);
const create = (sha: string, body: object = {}) =>
  bench.call("POST", "/check-runs", { token: ci, body: { name: "test", head_sha: sha, ...body } });
const update = (id: number, body: object) => bench.call("PATCH", `/check-runs/${id}`, { token: ci, body });
const listed = async (ref: string, query = "") =>
  (await bench.call("GET", `/commits/${encodeURIComponent(ref)}/check-runs${query}`)).body;
const annotationsOf = async (id: number, query = "") =>
  (await bench.call("GET", `/check-runs/${id}/annotations${query}`)).body;
const get = async (cr: { number: number }) =>
  (await bench.call("GET", `/change-requests/${cr.number}`)).body.change_request;
const merge = (cr: { number: number }) => bench.call("POST", `/change-requests/${cr.number}/merge`);

test("a check run has GitHub's fields, from its creation to its conclusion", async () => {
  const cr = await bench.open();
  const sha = headOf(cr);
  const made = await create(sha.toUpperCase(), {
    status: "in_progress",
    details_url: "https://ci.example.com/7",
    external_id: "job-7",
    started_at: "2026-01-02T03:04:05Z",
  });
  const { id } = made.body;
  const url = expect.stringMatching(new RegExp(`/v1/projects/[0-9a-f-]{36}/check-runs/${id}$`));
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.any(Number),
    head_sha: sha,
    name: "test",
    external_id: "job-7",
    url,
    html_url: expect.stringMatching(new RegExp(`/change-requests/${cr.number}$`)),
    details_url: "https://ci.example.com/7",
    status: "in_progress",
    conclusion: null,
    started_at: "2026-01-02T03:04:05.000Z",
    completed_at: null,
    output: {
      ...{ title: null, summary: null, text: null, annotations_count: 0 },
      annotations_url: expect.stringMatching(new RegExp(`/check-runs/${id}/annotations$`)),
    },
    ...{ check_suite: null, app: null, pull_requests: [] },
    creator: expect.objectContaining({ kind: "token", name: "agent" }),
  });
  const output = { title: "2 of 80 failed", summary: "**2** failed", text: "more" };
  const ended = await update(id, { conclusion: "failure", completed_at: "2026-01-02T03:05:05Z", output });
  expect(ended).toMatchObject({
    status: 200,
    body: {
      id,
      status: "completed",
      conclusion: "failure",
      completed_at: "2026-01-02T03:05:05.000Z",
      output,
    },
  });
  const passed = await update(id, { conclusion: "success" });
  expect([passed.body.conclusion, passed.body.completed_at]).toEqual(["success", "2026-01-02T03:05:05.000Z"]);
  expect((await update(id, { conclusion: "failure" })).body.conclusion).toBe("failure");
  // what is left out stays
  expect((await update(id, { output: { summary: "two" } })).body).toMatchObject({
    ...{ conclusion: "failure", external_id: "job-7", started_at: "2026-01-02T03:04:05.000Z" },
    output: { title: "2 of 80 failed", summary: "two", text: "more" },
  });
  expect((await bench.call("GET", `/check-runs/${id}`)).body.output.summary).toBe("two");
  const { body: combined } = await bench.call("GET", `/commits/${sha}/status`);
  expect(combined).toMatchObject({
    state: "failure",
    statuses: [
      {
        ...{ context: "test", state: "failure", check_run_id: id },
        ...{ description: "2 of 80 failed", target_url: "https://ci.example.com/7" },
      },
    ],
  });
  expect((await update(id, { status: "in_progress" })).body).toMatchObject({
    ...{ status: "in_progress", conclusion: null, completed_at: null },
  });
});

test("a merge requires a conclusion that passes, as GitHub's required checks do", async () => {
  const rows: [body: object, state: "success" | "pending" | "failure" | "error"][] = [
    [{}, "pending"],
    [{ status: "queued" }, "pending"],
    [{ status: "in_progress" }, "pending"],
    [{ conclusion: "action_required" }, "failure"],
    [{ conclusion: "cancelled" }, "error"],
    [{ conclusion: "failure" }, "failure"],
    [{ conclusion: "stale" }, "error"],
    [{ conclusion: "timed_out" }, "failure"],
    [{ status: "completed", conclusion: "success" }, "success"],
    [{ conclusion: "neutral" }, "success"],
    [{ status: "in_progress", conclusion: "skipped" }, "success"],
  ];
  let cr = await bench.open();
  for (const [body, state] of rows) {
    await create(headOf(cr), body);
    expect([body, (await get(cr)).checks.required]).toEqual([body, [{ context: "test", state }]]);
    const { status } = await merge(cr);
    expect([body, status]).toEqual([body, state === "success" ? 200 : 409]);
    if (status === 200) cr = await bench.open();
  }
});

test("a status and a check run of one name must both pass", async () => {
  const cr = await bench.open();
  const sha = headOf(cr);
  const report = (state: string) =>
    bench.call("POST", `/statuses/${sha}`, { body: { state, context: "test" } });
  const found = async (state: string) =>
    (await bench.call("GET", `/change-requests?q=checks:${state}+%23${cr.number}`)).body.change_requests
      .length;
  await report("success");
  const rows: [act: () => Promise<unknown>, state: string, required: string][] = [
    [() => create(sha, { conclusion: "failure" }), "failure", "failure"],
    [() => report("pending"), "failure", "failure"],
    [() => create(sha, { conclusion: "success" }), "pending", "pending"],
    [() => report("error"), "failure", "error"],
  ];
  for (const [act, state, required] of rows) {
    await act();
    const { checks } = await get(cr);
    expect([checks.state, checks.required]).toEqual([state, [{ context: "test", state: required }]]);
    expect([state, await found(state), (await merge(cr)).status]).toEqual([state, 1, 409]);
  }
  await report("success");
  expect((await get(cr)).checks).toMatchObject({ state: "success", total: 2, passed: 2 });
  expect((await merge(cr)).status).toBe(200);
});

test("invalid reports are refused, and nothing is stored", async () => {
  const sha = headOf(await bench.open());
  const annotation = { path: "a", start_line: 1, end_line: 1, annotation_level: "notice", message: "m" };
  const noted = (change: object) => ({
    output: { title: "t", summary: "s", annotations: [{ ...annotation, ...change }] },
  });
  const rows: [body: object, status: number][] = [
    [{ status: "completed" }, 400],
    [{ completed_at: "2026-01-02T03:04:05Z" }, 400],
    [{ status: "waiting" }, 400],
    [{ conclusion: "passed" }, 400],
    [{ name: " " }, 400],
    [{ name: "a\nb" }, 400],
    [{ name: "x".repeat(256) }, 400],
    [{ head_sha: "main" }, 400],
    [{ head_sha: "f".repeat(40) }, 400],
    [{ details_url: "javascript:alert(1)" }, 400],
    [{ details_url: "https://me:secret@ci.example.com/" }, 400],
    [{ external_id: "\0" }, 400],
    [{ started_at: "yesterday" }, 400],
    [{ started_at: "0000-01-01T00:00:00Z" }, 400],
    [{ started_at: "9999-12-31T23:59:59-01:00" }, 400],
    [{ output: { title: "t" } }, 400],
    [{ output: { summary: "s" } }, 400],
    [{ output: { title: "t", summary: "x".repeat(65_536) } }, 400],
    [{ output: { title: "t", summary: "\0" } }, 400],
    [noted({ end_line: 0 }), 400],
    [noted({ start_line: 2 ** 31 }), 400],
    [noted({ end_line: 2, start_column: 1 }), 400],
    [noted({ end_line: 2, end_column: 1 }), 400],
    [noted({ annotation_level: "error" }), 400],
    [noted({ message: "" }), 400],
    [noted({ path: "\0" }), 400],
  ];
  for (const [body, status] of rows) expect([body, (await create(sha, body)).status]).toEqual([body, status]);
  expect(await listed(sha, "?filter=all")).toEqual({ total_count: 0, check_runs: [] });
});

test("annotations are added by each request, up to a limit", async () => {
  const annotation = (at: number) => ({
    ...{ path: `src/${at}.ts`, start_line: at + 1, end_line: at + 1, start_column: 2, end_column: 3 },
    ...{ annotation_level: "warning", title: "t", message: `m${at}`, raw_details: "r" },
  });
  const many = (count: number) => ({
    output: {
      title: "t",
      summary: "s",
      annotations: Array.from({ length: count }, (_, at) => annotation(at)),
    },
  });
  const sha = headOf(await bench.open());
  expect((await create(sha, many(ANNOTATIONS_PER_REQUEST + 1))).status).toBe(400);
  const { id } = (await create(sha, many(3))).body;
  expect((await update(id, many(2))).body.output.annotations_count).toBe(5);
  expect(await annotationsOf(id)).toEqual([0, 1, 2, 0, 1].map(annotation));
  expect(await annotationsOf(id, "?per_page=2&page=2")).toEqual([2, 0].map(annotation));
  for (let count = 5; count + ANNOTATIONS_PER_REQUEST <= ANNOTATIONS_MAX; count += ANNOTATIONS_PER_REQUEST)
    expect((await update(id, many(ANNOTATIONS_PER_REQUEST))).status).toBe(200);
  expect((await update(id, many(46))).status).toBe(400);
  expect((await update(id, many(45))).body.output.annotations_count).toBe(ANNOTATIONS_MAX);
});

test("the newest run of a name counts, and a limited number of earlier ones is kept", async () => {
  const cr = await bench.open();
  const sha = headOf(cr);
  const first = (await create(sha, { conclusion: "failure" })).body.id;
  const other = (await create(sha, { name: "lint", conclusion: "success" })).body.id;
  const second = (await create(sha, { status: "in_progress" })).body.id;
  const ids = async (query: string, ref = sha) =>
    (await listed(ref, query)).check_runs.map(({ id }: { id: number }) => id);
  expect(await ids("")).toEqual([other, second]);
  expect(await ids("", cr.head_ref)).toEqual([other, second]);
  expect(await ids("?filter=all")).toEqual([other, second, first]);
  expect(await ids("?filter=all&check_name=test&per_page=1&page=2")).toEqual([first]);
  expect((await listed(sha, "?filter=all&check_name=test&per_page=1")).total_count).toBe(2);
  const linkOf = async (query: string) =>
    (await bench.call("GET", `/commits/${sha}/check-runs?filter=all${query}`)).headers.get("link");
  expect(await linkOf("&per_page=1")).toEndWith(`/check-runs?filter=all&per_page=1&page=2>; rel="next"`);
  expect(await linkOf("&per_page=1&page=3")).toBeNull();
  expect(await ids("?status=completed")).toEqual([other]);
  // an earlier one has no effect
  await update(first, { conclusion: "success" });
  expect((await get(cr)).checks).toMatchObject({ total: 2, pending: 1 });
  for (let at = 0; at < RUNS_KEPT - 1; at++) await create(sha, { status: "in_progress" });
  expect((await listed(sha, "?filter=all&check_name=test")).total_count).toBe(RUNS_KEPT);
  expect((await bench.call("GET", `/check-runs/${first}`)).status).toBe(404);
  expect((await update(second, { conclusion: "success" })).status).toBe(200);
  expect((await update(other, { name: "test" })).status).toBe(400);
});

test("new annotations refresh a page, and an unchanged state notifies nobody", async () => {
  const cr = await bench.open();
  const sha = headOf(cr);
  const stream = await followEvents(bench.api.url, bench.api.token, bench.project.project_id);
  const { id } = (await create(sha, { conclusion: "failure" })).body;
  const since = (await bench.call("GET", `/commits/${sha}/status`)).body.statuses[0].updated_at;
  await update(id, { output: { summary: "more" } });
  const seen = () => stream.events().filter(({ type, number }) => type === "check" && number === cr.number);
  await stream.waitFor("the second event", () => seen().length === 2);
  expect((await bench.call("GET", `/commits/${sha}/status`)).body.statuses[0].updated_at).toBe(since);
  await stream.close();
});

const STATES = ["error", "failure", "pending", "success"];
const PASSES = ["success", "neutral", "skipped"];
const FAILS = ["failure", "cancelled", "timed_out", "action_required", "stale"];
const OPEN = ["queued", "in_progress"];

/** What a run counts as after a request, by GitHub's rules. */
function judged(before: string, { status, conclusion }: { status?: string; conclusion?: string }): string {
  if (conclusion !== undefined) return PASSES.includes(conclusion) ? "passed" : "failed";
  return status === undefined ? before : "pending";
}

test("any order of statuses, runs and changes of them ends with the verdict of the last ones", async () => {
  const body = fc.record(
    { status: fc.constantFrom(...OPEN), conclusion: fc.constantFrom(...PASSES, ...FAILS) },
    { requiredKeys: [] },
  );
  const step = fc.oneof(
    fc.record({ report: fc.constantFrom(...STATES) }),
    fc.record({ create: body }),
    fc.record({ update: body, which: fc.nat({ max: 3 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const cr = await bench.open();
      const sha = headOf(cr);
      let reported: string | null = null;
      const runs: { id: number; verdict: string }[] = [];
      for (const each of steps) {
        if ("report" in each) {
          await bench.call("POST", `/statuses/${sha}`, { body: { state: each.report, context: "test" } });
          reported = each.report === "success" ? "passed" : each.report === "pending" ? "pending" : "failed";
        } else if ("create" in each) {
          const made = await create(sha, each.create);
          runs.push({ id: made.body.id, verdict: judged("pending", each.create) });
        } else {
          const run = runs[each.which];
          if (!run) continue;
          await update(run.id, each.update);
          run.verdict = judged(run.verdict, each.update);
        }
      }
      const verdicts = [reported, runs.at(-1)?.verdict ?? null].filter((verdict) => verdict !== null);
      const expected = ["failed", "pending", "passed"].find((verdict) => verdicts.includes(verdict));
      const { state } = (await get(cr)).checks;
      expect({ failure: "failed", pending: "pending", success: "passed" }[String(state)]).toBe(
        expected ?? "pending",
      );
      expect((await merge(cr)).status).toBe(expected === "passed" ? 200 : 409);
    }),
    { numRuns: 12 },
  );
});
