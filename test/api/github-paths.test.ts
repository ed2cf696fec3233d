import { afterAll, beforeAll, expect } from "bun:test";
import { Octokit } from "@octokit/rest";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
/** GitHub's own client, of which only the address and the token are svc's. */
let octokit: Octokit;
/** As GitHub names the project. */
let at: { owner: string; repo: string };

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  bench.rule('svc_version = 1\n[checks]\nrequired = ["build", "lint"]\n');
  const project = (await bench.call("GET", "")).body;
  const account = (await bench.api.call("GET", `/v1/accounts/${project.account_id}`)).body;
  at = { owner: account.slug, repo: project.slug };
  octokit = new Octokit({ auth: await bench.agent(), baseUrl: `${bench.api.url}/v1/github` });
});
afterAll(() => bench?.stop());

const merge = (cr: { number: number }) => bench.call("POST", `/change-requests/${cr.number}/merge`);

test("GitHub's client reports statuses and check runs with another URL and token", async () => {
  const { repos, checks } = octokit.rest;
  const cr = await bench.open();
  const sha = bench.remote.sha(cr.head_ref);
  const made = await repos.createCommitStatus({ ...at, sha, state: "success", context: "build" });
  expect(made).toMatchObject({ status: 201, data: { state: "success", creator: { login: "agent" } } });
  expect(Number.isSafeInteger(made.data.id)).toBe(true);
  expect((await merge(cr)).status).toBe(409);
  const run = await checks.create({ ...at, name: "lint", head_sha: sha, status: "in_progress" });
  const annotations = Array.from({ length: 35 }, (_, index) => ({
    ...{ path: "a.ts", start_line: index + 1, end_line: index + 1 },
    ...{ annotation_level: "notice" as const, message: `m${index}` },
  }));
  const output = { title: "Passed", summary: "All", annotations };
  const ended = await checks.update({ ...at, check_run_id: run.data.id, conclusion: "neutral", output });
  expect(ended.data).toMatchObject({ status: "completed", output: { annotations_count: 35 } });
  expect((await checks.get({ ...at, check_run_id: run.data.id })).data.conclusion).toBe("neutral");
  // by the header with the next page
  const noted = await octokit.paginate(checks.listAnnotations, { ...at, check_run_id: run.data.id });
  expect(noted.map(({ message }) => message)).toEqual(annotations.map(({ message }) => message));
  const again = await checks.create({ ...at, name: "lint", head_sha: sha, conclusion: "success" });
  const all = { ...at, ref: cr.head_ref, filter: "all", per_page: 1 } as const;
  const runs = await octokit.paginate(checks.listForRef, all);
  expect(runs.map(({ id }) => id)).toEqual([again.data.id, run.data.id]);
  const combined = await repos.getCombinedStatusForRef({ ...at, ref: cr.head_ref });
  expect(combined.data).toMatchObject({ sha, state: "success", total_count: 1 });
  expect(combined.data.statuses).toMatchObject([{ id: made.data.id, context: "build" }]);
  expect((await merge(cr)).status).toBe(200);
});

test("the owner must be the project's account, in upper or lower case", async () => {
  const ref = "main";
  const read = (change: object) =>
    octokit.rest.checks.listForRef({ ...at, ref, ...change }).then(
      ({ status }) => status,
      ({ status }: { status: number }) => status,
    );
  expect(await read({ owner: at.owner.toUpperCase() })).toBe(200);
  expect(await read({ owner: "others" })).toBe(404);
  expect(await read({ repo: "others" })).toBe(404);
});
