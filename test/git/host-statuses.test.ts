import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Git, HostStatus, Repository } from "../../src/git/git.ts";
import type { Log } from "../../src/git/run/options.ts";
import { type HostCheck, type StandIn, serveHost } from "../helpers/git-host.ts";
import { createRepository, createTestGit, temporary } from "../helpers/git-repo.ts";

const TOKEN = "glpat-S3cr3t_t0ken-value";
const KINDS = ["github", "gitlab", "gitea"] as const;
type Kind = (typeof KINDS)[number];

/** A host's check, and what svc makes of it; null: nothing. */
type Row = readonly [check: HostCheck, state: HostStatus["state"] | null];

const run = (status: string, conclusion: string | null): HostCheck => ({
  name: `run ${status} ${conclusion}`,
  state: status,
  run: { conclusion },
});
const named = (state: string, more: Partial<HostCheck> = {}): HostCheck => ({
  name: `is ${state} ${more.allowFailure ?? ""}`,
  state,
  ...more,
});

const TABLES: Readonly<Record<Kind, readonly Row[]>> = {
  github: [
    ...(["error", "failure", "pending", "success"] as const).map((state) => [named(state), state] as const),
    [named("strange"), null],
    [run("queued", null), "pending"],
    [run("in_progress", null), "pending"],
    [run("waiting", null), "pending"],
    [run("completed", "success"), "success"],
    [run("completed", "neutral"), "success"],
    [run("completed", "skipped"), "success"],
    [run("completed", "failure"), "failure"],
    [run("completed", "timed_out"), "failure"],
    [run("completed", "action_required"), "failure"],
    [run("completed", "startup_failure"), "failure"],
    [run("completed", "cancelled"), "error"],
    [run("completed", "stale"), "error"],
    // a word of the future lets nothing pass
    [run("completed", "splendid"), "error"],
    [run("completed", "constructor"), "error"],
    [run("completed", null), "error"],
  ],
  gitlab: [
    ...["created", "waiting_for_resource", "waiting_for_callback", "preparing", "pending", "running"].map(
      (state) => [named(state), "pending"] as const,
    ),
    [named("scheduled"), "pending"],
    [named("success"), "success"],
    [named("skipped"), "success"],
    [named("failed"), "failure"],
    [named("failed", { allowFailure: true }), "success"],
    [named("running", { allowFailure: true }), "pending"],
    [named("canceled"), "error"],
    [named("canceling"), "error"],
    [named("manual"), null],
    [named("toString"), null],
  ],
  gitea: [
    ...(["error", "failure", "pending", "success"] as const).map((state) => [named(state), state] as const),
    [named("warning"), "success"],
    [named("skipped"), "success"],
    [named("strange"), null],
  ],
};

describe.each(KINDS)("%s", (kind) => {
  let host: StandIn;
  let git: Git;
  let repo: Repository;
  let commit = "";
  let directory = "";
  const lines: string[] = [];
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const folder = await temporary();
    directory = folder.path;
    const path = kind === "gitlab" ? "team/sub.group/app" : "some-one/app.v1";
    const upstream = await createRepository(join(directory, `${path}.git`));
    commit = (await upstream.write([{ name: "root", branch: "main", files: { f: "0" } }]))["root"] ?? "";
    host = serveHost(kind, directory, path, TOKEN);
    const record = (fields: object, message: string) =>
      void lines.push(`${message} ${JSON.stringify(fields)}`);
    const log: Log = { debug: record, info: record, warn: record, error: record };
    const engine = await createTestGit({ dataDir: join(directory, "data"), hosts: [host.entry], log });
    git = engine.git;
    repo = { ...engine.repo(host.url), credential: { username: "someone", token: TOKEN } };
    ends.push(
      () => engine.git.close(),
      () => host[Symbol.dispose](),
      () => folder[Symbol.asyncDispose](),
    );
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  beforeEach(() => {
    host.checks.clear();
    host.faults = {};
    host.calls.length = 0;
  });

  const read = async () => {
    const outcome = await git.readStatuses(repo, commit);
    if (outcome.outcome !== "done") throw new Error(JSON.stringify(outcome));
    return outcome.value;
  };
  const answer =
    (status: number, body: unknown, headers: Record<string, string> = {}) =>
    () =>
      Response.json(body, { status, headers });

  test("reads each state as what it means for a merge", async () => {
    for (const [check, state] of TABLES[kind]) {
      host.checks.set(commit, [{ ...check, description: "said", url: "https://ci.example/1" }]);
      const expected = {
        context: check.name,
        state,
        description: "said",
        targetUrl: "https://ci.example/1",
      } as const;
      expect(await read()).toEqual(state === null ? [] : [{ ...expected, state }]);
    }
  });

  test.each(["error", "failure", "pending", "success"] as const)(
    "what is reported as %s is read again",
    async (state) => {
      const status = { context: "svc/a b", state, description: "It ran", targetUrl: "https://svc.example/1" };
      expect(await git.reportStatus(repo, commit, status)).toEqual({ outcome: "done", value: null });
      // GitLab has one word for both
      const expected = kind === "gitlab" && state === "error" ? "failure" : state;
      expect(await read()).toEqual([{ ...status, state: expected }]);
      expect(await git.reportStatus(repo, commit, status)).toMatchObject({ outcome: "done" });
    },
  );

  test("a status without a description and a link", async () => {
    const status = { context: "svc/test", state: "success", description: null, targetUrl: null } as const;
    await git.reportStatus(repo, commit, status);
    expect(await read()).toEqual([status]);
  });

  test("all of a hundred checks are read", async () => {
    const checks = Array.from({ length: 100 }, (_, index) => ({ name: `check ${index}`, state: "success" }));
    host.checks.set(commit, checks);
    expect((await read()).map(({ context }) => context).sort()).toEqual(
      checks.map(({ name }) => name).sort(),
    );
  });

  test.each([
    [401, {}, true, null],
    [403, {}, true, null],
    [404, {}, true, null],
    [422, {}, true, null],
    [408, {}, false, null],
    [429, {}, false, null],
    [500, {}, false, null],
    [503, { "Retry-After": "120" }, false, 120_000],
    [403, { "Retry-After": "60" }, false, 60_000],
    // a date is allowed, too; the wait of a failure applies
    [503, { "Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT" }, false, null],
    [403, { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1" }, false, 0],
    [403, { "X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "1" }, true, null],
  ] as const)(
    "%i with %j fails: finally %p, again after %p ms",
    async (status, headers, isFinal, retryMs) => {
      host.faults = {
        checks: answer(status, { message: `no, ${TOKEN}` }, headers),
        report: answer(status, { message: `no, ${TOKEN}` }, headers),
      };
      const one = { context: "svc/a", state: "success", description: null, targetUrl: null } as const;
      for (const outcome of [
        await git.readStatuses(repo, commit),
        await git.reportStatus(repo, commit, one),
      ]) {
        expect(outcome).toMatchObject({ outcome: "failed", isFinal, retryMs });
        expect(outcome).toMatchObject({ reason: expect.stringContaining(`${status}: no, `) });
        expect(JSON.stringify(outcome)).not.toContain(TOKEN);
      }
      expect(lines.join()).not.toContain(TOKEN);
    },
  );

  test("a host that does not answer, or answers with something else, has failed for now", async () => {
    for (const fault of [
      () => new Response("<html>", { headers: { "Content-Type": "text/html" } }),
      answer(200, { statuses: 7, check_runs: "x" }),
      () => Response.redirect("https://elsewhere.invalid/"),
    ]) {
      host.faults = { checks: fault };
      expect(await git.readStatuses(repo, commit)).toMatchObject({ outcome: "failed", isFinal: false });
    }
    const gone = { ...repo, url: host.url.replace(/:\d+/, ":1") };
    const engine = await createTestGit({
      dataDir: join(directory, "other"),
      hosts: [{ kind, origin: new URL(gone.url ?? "").origin }],
    });
    expect(await engine.git.readStatuses(gone, commit)).toMatchObject({ outcome: "failed", isFinal: false });
    await engine.git.close();
  });

  test("without a token, no host is asked", async () => {
    const open = { ...repo, credential: null };
    const one = { context: "svc/a", state: "success", description: null, targetUrl: null } as const;
    expect(await git.readStatuses(open, commit)).toEqual({ outcome: "none" });
    expect(await git.reportStatus(open, commit, one)).toEqual({ outcome: "none" });
    expect(host.calls).toEqual([]);
  });

  if (kind === "github")
    test("a token that may read one of the two lists reads that one", async () => {
      host.checks.set(commit, [named("success"), run("completed", "failure")]);
      host.faults = {
        checks: async (perform) => {
          const target = host.calls.at(-1)?.target ?? "";
          const refused = "Resource not accessible by personal access token";
          return target.includes("check-runs")
            ? Response.json({ message: refused }, { status: 403 })
            : await perform();
        },
      };
      expect(await read()).toMatchObject([{ context: named("success").name, state: "success" }]);
    });
});
