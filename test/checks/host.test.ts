import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommitStatus } from "../../src/contract/commit-status.ts";
import { waitAfter } from "../../src/features/checks/host/read.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type StandIn, serveHost } from "../helpers/git-host.ts";
import { Remote } from "../helpers/remote.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";
import { until } from "../helpers/until.ts";

const TOKEN = "ghp_S3cr3tT0ken";

let api: Api;
let remote: Remote;
let host: StandIn;
let projectId = "";
let ahead = 0;
let halted: Promise<void> | null = null;
const changes = new Changes();
const provider = new StandInProvider();
const root = mkdtempSync(join(tmpdir(), "svc-host-"));

beforeAll(async () => {
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  mkdirSync(join(root, "ada"));
  symlinkSync(remote.path, join(root, "ada", "app.git"));
  host = serveHost("github", root, "ada/app", TOKEN);
  api = await startApi({
    env: { SVC_GIT_HOSTS: `${host.entry.origin}=github`, SVC_PUBLIC_URL: "https://svc.example" },
    deps: {
      changes,
      sandboxes: provider.sandboxesOf,
      clock: () => new Date(Date.now() + ahead),
      async checkpoint(step) {
        if (step === "check-reported-to-host") await halted;
      },
    },
  });
  const made = await api.project(host.url, { git_token: TOKEN, name: "app" });
  projectId = made.project_id;
});
afterAll(async () => {
  await api.stop();
  await provider.close();
  host[Symbol.dispose]();
  remote.remove();
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  host.faults = {};
  halted = null;
});

/** Lets time pass, so that the worker looks at once. */
const advance = (seconds: number) => {
  ahead += seconds * 1000;
  changes.notify("checks of git hosts");
};
const project = (method: string, path: string, body?: unknown) =>
  api.call(method, `/v1/projects/${projectId}${path}`, body === undefined ? {} : { body });
const report = (sha: string, body: object) => project("POST", `/statuses/${sha}`, body);
const statusesOf = async (sha: string): Promise<CommitStatus[]> =>
  (await project("GET", `/commits/${sha}/status`)).body.statuses;
const checksOn = (sha: string) => host.checks.get(sha) ?? [];

let branches = 0;
async function open() {
  const head = `work-${++branches}`;
  const sha = remote.commit(head, { [head]: "1\n" }, { from: "main" });
  const { body } = await project("POST", "/change-requests", { title: "t", head_ref: head });
  return { number: body.number as number, sha, head };
}
async function becomes(sha: string, context: string, expected: Partial<CommitStatus>) {
  let last: CommitStatus[] = [];
  await until(
    () => `${context} becomes ${JSON.stringify(expected)}, not ${JSON.stringify(last)}`,
    async () => {
      advance(15);
      last = await statusesOf(sha);
      const found = last.find((status) => status.context === context);
      return found !== undefined && Bun.deepMatch(expected, found);
    },
  );
}

describe("from the host", () => {
  test("its checks count like reported ones: a merge waits for them", async () => {
    const { number, sha } = await open();
    host.checks.set(sha, [
      { name: "build", state: "in_progress", run: { conclusion: null }, url: "https://ci.example/7" },
      { name: "lint", state: "success", description: "Clean" },
    ]);
    await becomes(sha, "build", { state: "pending", from_host: true, creator: null });
    await becomes(sha, "lint", { state: "success", description: "Clean" });
    expect((await project("GET", `/change-requests/${number}`)).body.change_request.checks).toMatchObject({
      state: "pending",
      passed: 1,
    });
    host.checks.set(sha, [{ name: "build", state: "completed", run: { conclusion: "failure" } }]);
    await becomes(sha, "build", { state: "failure", target_url: null });
    // what the host no longer lists stays
    await becomes(sha, "lint", { state: "success" });
  });

  test("never replace what was reported to svc, and are no events of their own when nothing changed", async () => {
    const { sha } = await open();
    await report(sha, { state: "failure", context: "test" });
    host.checks.set(sha, [
      { name: "test", state: "success" },
      { name: "other", state: "success" },
    ]);
    await becomes(sha, "other", { state: "success" });
    expect(await statusesOf(sha)).toContainEqual(
      expect.objectContaining({ context: "test", state: "failure", from_host: false }),
    );
    const before = await statusesOf(sha);
    host.calls.length = 0;
    await until("the host is asked again", () => {
      advance(60);
      return host.calls.filter(({ step }) => step === "checks").length >= 4;
    });
    expect(await statusesOf(sha)).toEqual(before);
    // and what is reported later replaces the host's
    await report(sha, { state: "failure", context: "other" });
    await until("the host is asked once more", () => {
      advance(60);
      return host.calls.filter(({ step }) => step === "checks").length >= 8;
    });
    expect(await statusesOf(sha)).toContainEqual(
      expect.objectContaining({ context: "other", state: "failure", from_host: false }),
    );
  });

  test("neither replace a check run of their name nor stay behind it: both count", async () => {
    const { number, sha } = await open();
    host.checks.set(sha, [{ name: "lint", state: "pending" }]);
    await becomes(sha, "lint", { state: "pending", from_host: true });
    await project("POST", "/check-runs", { name: "lint", head_sha: sha, conclusion: "success" });
    host.checks.set(sha, [{ name: "lint", state: "failure" }]);
    await becomes(sha, "lint", { state: "failure", from_host: true, check_run_id: null });
    expect((await project("GET", `/change-requests/${number}`)).body.change_request.checks).toMatchObject({
      ...{ state: "failure", total: 2, passed: 1, failed: 1 },
    });
    // also when the check run is the first
    await project("POST", "/check-runs", { name: "unit", head_sha: sha, conclusion: "success" });
    host.checks.set(sha, [{ name: "unit", state: "failure" }]);
    await becomes(sha, "unit", { state: "failure", from_host: true, check_run_id: null });
  });

  test("texts are stored as svc can show them, and of two checks with one name the worse", async () => {
    const { sha } = await open();
    host.checks.set(sha, [
      { name: "build", state: "failure", description: "\u001b[31m\n<b>red" },
      { name: "build", state: "completed", run: { conclusion: "success" } },
      { name: "link", state: "success", url: "javascript:alert(1)", description: "x".repeat(300) },
      { name: "secret", state: "success", url: "https://a:b@c.example/" },
      { name: "line\nbreak", state: "success" },
      { name: "x".repeat(256), state: "success" },
      { name: "svc/build", state: "success" },
      ...Array.from({ length: 200 }, (_, at) => ({ name: `more ${at}`, state: "success" })),
    ]);
    await becomes(sha, "build", { state: "failure", description: " [31m <b>red" });
    const found = await statusesOf(sha);
    expect(found.length).toBe(100);
    expect(found.find(({ context }) => context === "link")).toMatchObject({ target_url: null });
    expect(found.find(({ context }) => context === "link")?.description?.length).toBe(140);
    expect(found.find(({ context }) => context === "secret")).toMatchObject({ target_url: null });
    expect(found.filter(({ context }) => /^svc\/|^line|^xx/.test(context))).toEqual([]);
  });

  test("a new head is read, a closed change request is not, and a reopened one is again", async () => {
    const { number, sha, head } = await open();
    host.checks.set(sha, [{ name: "build", state: "success" }]);
    await becomes(sha, "build", { state: "success" });
    const next = remote.commit(head, { again: "1\n" });
    host.checks.set(next, [{ name: "build", state: "pending" }]);
    await project("GET", `/change-requests/${number}`);
    await becomes(next, "build", { state: "pending" });
    await project("POST", `/change-requests/${number}/close`);
    const asked = () => host.calls.filter(({ target }) => target.includes(next)).length;
    const other = await open();
    host.checks.set(other.sha, [{ name: "build", state: "pending" }]);
    await becomes(other.sha, "build", { state: "pending" });
    const before = asked();
    host.checks.set(other.sha, [{ name: "build", state: "success" }]);
    await becomes(other.sha, "build", { state: "success" });
    expect(asked()).toBe(before);
    host.checks.set(next, [{ name: "build", state: "failure" }]);
    await project("POST", `/change-requests/${number}/reopen`);
    await becomes(next, "build", { state: "failure" });
  });
});

describe("to the host", () => {
  test("what is reported to svc is reported under a name that replaces nothing, with a link", async () => {
    const { number, sha } = await open();
    host.checks.set(sha, [{ name: "test", state: "success" }]);
    await report(sha, { state: "failure", context: "test", description: "3 failed" });
    const page = `https://svc.example/projects/app/change-requests/${number}`;
    await until("it is on the host", () => checksOn(sha).some(({ name }) => name === "svc/test"));
    expect(checksOn(sha)).toContainEqual({
      ...{ name: "svc/test", state: "failure", description: "3 failed", url: page },
    });
    expect(checksOn(sha)).toContainEqual({ name: "test", state: "success" });
    await report(sha, { state: "success", context: "test", target_url: "https://ci.example/8" });
    await until("the new one is on the host", () =>
      checksOn(sha).some(({ name, url }) => name === "svc/test" && url === "https://ci.example/8"),
    );
  });

  test("of a status and a check run of one name the worse is reported, whichever changes", async () => {
    const { sha } = await open();
    await report(sha, { state: "failure", context: "both", description: "of the status" });
    await until("it is on the host", () => checksOn(sha).length === 1);
    const run = { name: "both", head_sha: sha, conclusion: "success", output: { title: "run", summary: "" } };
    const { id } = (await project("POST", "/check-runs", run)).body;
    const reports = () => host.calls.filter(({ step }) => step === "report").length;
    const reported = async (count: number) =>
      await until("the result is on its way", () => {
        advance(5);
        return reports() >= count;
      });
    const shows = (expected: object) =>
      until("the host shows it", () =>
        checksOn(sha).some((check) => check.name === "svc/both" && Bun.deepMatch(expected, check)),
      );
    await reported(reports() + 1);
    await shows({ state: "failure", description: "of the status" });
    await report(sha, { state: "success", context: "both" });
    await shows({ state: "success" });
    await project("PATCH", `/check-runs/${id}`, { conclusion: "cancelled" });
    await shows({ state: "error", description: "run" });
  });

  test("is tried again while the host is away, and given up when it refuses", async () => {
    const { sha } = await open();
    let asked = 0;
    host.faults.report = () => {
      asked++;
      return new Response("", { status: 503 });
    };
    await report(sha, { state: "success", context: "later" });
    await until("it was tried twice", () => {
      advance(60);
      return asked >= 2;
    });
    host.faults.report = (perform) => perform();
    await until("it is on the host", () => {
      advance(60);
      return checksOn(sha).some(({ name }) => name === "svc/later");
    });
    asked = 0;
    host.faults.report = () => {
      asked++;
      return Response.json({ message: "Resource not accessible" }, { status: 403 });
    };
    await report(sha, { state: "success", context: "never" });
    await until("it was tried four times", () => {
      advance(600);
      return asked >= 4;
    });
    // a later one is reported, which shows that the worker has looked
    host.faults.report = (perform) => {
      asked++;
      return perform();
    };
    await report(sha, { state: "success", context: "last" });
    await until("the last is on the host", () => {
      advance(600);
      return checksOn(sha).some(({ name }) => name === "svc/last");
    });
    expect(asked).toBe(5);
  });

  test("a result that is recorded while the one before is on its way is the last on the host", async () => {
    const { sha } = await open();
    const released = Promise.withResolvers<void>();
    halted = released.promise;
    await report(sha, { state: "pending", context: "race" });
    await until("the first is on the host", () => checksOn(sha).some(({ name }) => name === "svc/race"));
    await report(sha, { state: "success", context: "race" });
    // as if it had arrived last
    host.checks.set(sha, [{ name: "svc/race", state: "pending" }]);
    halted = null;
    released.resolve();
    await until("the second is on the host", () => {
      advance(5);
      return checksOn(sha).some(({ name, state }) => name === "svc/race" && state === "success");
    });
  });
});

test("a name that the manifest gives to a check of svc's own is not the host's to report", async () => {
  const commit = remote.commit("main", {
    "svc.toml": 'svc_version = 1\n[[checks]]\nname = "own"\ncommand = "false"\n',
  });
  await project("PATCH", "", { default_branch: "main" });
  await until("the manifest is read", async () => (await project("GET", "/triggers")).body.commit === commit);
  const { sha } = await open();
  host.checks.set(sha, [
    { name: "own", state: "success" },
    { name: "other", state: "success" },
  ]);
  await becomes(sha, "other", { state: "success" });
  expect((await statusesOf(sha)).filter(({ from_host }) => from_host)).toMatchObject([{ context: "other" }]);
});

test("those of a merge queue's results are read, and let them land", async () => {
  remote.commit("main", { "svc.toml": '[merge]\nqueue = true\n[checks]\nrequired = ["ci"]\n' });
  const { number } = await open();
  expect((await project("POST", `/change-requests/${number}/merge`, {})).status).toBe(202);
  const read = async () => (await project("GET", `/change-requests/${number}`)).body.change_request;
  await until("it is tested", async () => Boolean((await read()).queue?.tested_commit_sha));
  const sha = (await read()).queue.tested_commit_sha;
  host.checks.set(sha, [{ name: "ci", state: "completed", run: { conclusion: "success" } }]);
  let round = 0;
  await until("it is merged", async () => {
    ahead += 16_000;
    // wakes the queue
    await report(sha, { state: round++ % 2 === 0 ? "pending" : "success", context: "other" });
    return (await read()).status === "merged";
  });
  expect(remote.sha("main")).toBe(sha);
  remote.commit("main", { "svc.toml": "" });
});

test.each([
  ["no API", { outcome: "none" }, { failures: 0, ageMs: 0 }, 3_600],
  ["none yet", { outcome: "done", value: [] }, { failures: 0, ageMs: 0 }, 15],
  ["one runs", { outcome: "done", value: [{ state: "pending" }] }, { failures: 0, ageMs: 0 }, 15],
  ["all ended", { outcome: "done", value: [{ state: "success" }] }, { failures: 0, ageMs: 0 }, 60],
  ["one runs long", { outcome: "done", value: [{ state: "pending" }] }, { failures: 0, ageMs: 700_000 }, 60],
  ["still none", { outcome: "done", value: [] }, { failures: 0, ageMs: 700_000 }, 600],
  ["an old one", { outcome: "done", value: [{ state: "pending" }] }, { failures: 0, ageMs: 9e7 }, 3_600],
  ["a first failure", failed(false, null), { failures: 1, ageMs: 0 }, 30],
  ["a third", failed(false, null), { failures: 3, ageMs: 0 }, 120],
  ["a twentieth", failed(false, null), { failures: 20, ageMs: 0 }, 3_600],
  ["a refusal", failed(true, null), { failures: 1, ageMs: 0 }, 3_600],
  ["a limit", failed(false, 7_200_000), { failures: 1, ageMs: 0 }, 7_200],
] as const)("the next read: %s", (_, outcome, at, seconds) => {
  expect(waitAfter(outcome, at)).toBe(seconds * 1000);
});

function failed(isFinal: boolean, retryMs: number | null) {
  return { outcome: "failed", reason: "no", isFinal, retryMs } as const;
}
