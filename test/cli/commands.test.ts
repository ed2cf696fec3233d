import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  autoMerge,
  CLEAN,
  changeRequest,
  diff,
  failure,
  fakeApi,
  merged,
  PATCH,
  PROJECT_ID,
  PROJECT_IDENTITY,
  queued,
  TOKEN,
} from "../helpers/cli-api.ts";
import { makeHome, type RunOptions, spawnSvc, svc, textOf } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (args: string[], options: RunOptions = {}) =>
  svc(args, { ...options, env: { ...api.env, ...options.env } });

describe("cr", () => {
  test("ls prints full values, separated by tabs, and lists open ones", async () => {
    const ran = await run(["cr", "ls"]);
    expect(ran).toEqual({
      code: 0,
      signal: null,
      stdout: "3\tFix the login page\tfix-login\tmain\topen\t2026-11-20T10:00:00.000Z\n",
      stderr: "",
    });
    expect(api.seen[0]).toMatchObject({ query: { status: "open", limit: "200" } });
    expect(api.seen[0]?.headers.get("user-agent")).toStartWith("svc/");
  });

  test("ls reads all pages, up to --limit", async () => {
    api.on("GET /projects/:p/change-requests", ({ query }) => {
      const first = Number(query["cursor"] ?? 1);
      const numbers = [first, first + 1];
      return {
        change_requests: numbers.map((number) => changeRequest({ number })),
        ...(first < 5 ? { next_cursor: String(first + 2) } : {}),
      };
    });
    const all = await run(["cr", "ls", "--jq", ".[].number"]);
    expect(all.stdout).toBe("1\n2\n3\n4\n5\n6\n");
    api.seen.length = 0;
    const some = await run(["cr", "ls", "--limit", "3", "--json=number"]);
    expect(JSON.parse(some.stdout)).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
    expect(api.seen.map((call) => call.query["limit"])).toEqual(["3", "1"]);
  });

  test("ls and show mark a stored row that could not be refreshed", async () => {
    const words = "the repository did not respond, or no longer has one of the branches";
    for (const stale of [false, true]) {
      const cr = changeRequest({ stale });
      api.on("GET /projects/:p/change-requests", () => ({ change_requests: [cr] }));
      api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: cr }));
      const [ls, show] = [await run(["cr", "ls"]), await run(["cr", "show", "3"])];
      expect(ls.stdout).toContain("\topen\t");
      expect(ls.stderr.includes("Not up to date: #3. The repository did not respond")).toBe(stale);
      expect(show.stdout.includes(`\nstale\t${words}`)).toBe(stale);
      expect(JSON.parse((await run(["cr", "ls", "--json=stale"])).stdout)).toEqual([{ stale }]);
    }
  });

  test("show says that commits reached the base without svc", async () => {
    const merged = { status: "merged", merged_at: "2026-11-20T10:00:00.000Z", merged_by: null } as const;
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest(merged) }));
    expect((await run(["cr", "show", "3"])).stdout).toContain(
      "\nmerged\t2026-11-20T10:00:00.000Z outside svc\n",
    );
  });

  test("ls reports an empty list on stderr", async () => {
    api.on("GET /projects/:p/change-requests", () => ({ change_requests: [] }));
    expect(await run(["cr", "ls"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "No open change requests.\n",
    });
    expect(await run(["cr", "ls", "-q"])).toMatchObject({ stdout: "", stderr: "" });
    expect(await run(["cr", "ls", "--json"])).toMatchObject({ stdout: "[]\n", stderr: "" });
  });

  test.each(["3", "#3", "44444444-4444-4444-8444-000000000003"])("show takes %s", async (reference) => {
    const ran = await run(["cr", "show", reference]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("title\tFix the login page\n");
    expect(ran.stdout).toContain("Merge preview: clean: merges without conflicts\n");
    expect(api.seen[0]?.path).toBe(`/projects/${PROJECT_ID}/change-requests/${reference.replace("#", "")}`);
  });

  test.each([
    [{ can_fast_forward: true }, "clean: merges as a fast-forward"],
    [{ is_up_to_date: true }, "up to date: main already contains fix-login; nothing to merge"],
    [{ merge_base: null, can_merge: false }, "cannot be merged: fix-login and main have no common history"],
    [{ can_merge: false, conflicts: [] }, "conflicts\n"],
  ])("show describes the outcome of a merge: %p", async (change, says) => {
    api.on("GET /projects/:p/change-requests/:n/merge-preview", () => ({ ...CLEAN, ...change }));
    expect((await run(["cr", "show", "3"])).stdout).toContain(`Merge preview: ${says}`);
  });

  test("show lists conflicts and the commands that resolve them, quoted for a shell", async () => {
    const head_ref = "fix;rm -rf 'x'";
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest({ head_ref }) }));
    api.on("GET /projects/:p/change-requests/:n/merge-preview", () => ({
      ...CLEAN,
      can_merge: false,
      conflicts: ["login.ts", "a\x1b]0;x\x07b"],
    }));
    const { stdout } = await run(["cr", "show", "3"]);
    expect(stdout).toContain("Merge preview: conflicts in 2 files\n  conflict  login.ts\n");
    expect(stdout).toContain("  conflict  a\\x1b]0;x\\x07b\n");
    expect(stdout).toContain("git switch 'fix;rm -rf '\\''x'\\'''\n  git merge origin/main\n");
    expect(stdout).toContain("svc cr show 3\n");
  });

  test("show lists the manifest problems of a merge, and omits them if they are unknown", async () => {
    const problem = { path: "x", line: 3, column: 7, severity: "error", message: "x \x1b[31m is wrong." };
    const errors = [problem, { ...problem, line: 4, severity: "warning" }];
    api.on("GET /projects/:p/change-requests/:n/manifest", () => ({
      path: "svc.toml",
      changed: true,
      errors,
      opens: ["site\x1b[31m"],
    }));
    expect((await run(["cr", "show", "3"])).stdout).toEndWith(
      '\nMerging makes the app "site\\x1b[31m" public.\n\nManifest: svc.toml would have 1 error and 1 warning\n  error  svc.toml:3:7: x \\x1b[31m is wrong.\n  warning  svc.toml:4:7: x \\x1b[31m is wrong.\n',
    );
    api.on("GET /projects/:p/change-requests/:n/manifest", () => failure("not_found", "No such route.", 404));
    const older = await run(["cr", "show", "3"]);
    expect([older.code, older.stdout.includes("Manifest:")]).toEqual([0, false]);
  });

  test("show --json contains the preview, or null", async () => {
    const open = JSON.parse((await run(["cr", "show", "3", "--json"])).stdout);
    const manifest = { path: "svc.toml", changed: false, errors: [], opens: [] };
    expect(open).toEqual({
      ...changeRequest(),
      merge_preview: CLEAN,
      manifest,
      open_comments: 1,
      stack: [],
      apps: [expect.objectContaining({ slug: "web", state: "live" })],
    });
    api.on("GET /projects/:p/change-requests/:n/merge-preview", () =>
      failure("branch_missing", "The branch fix-login is gone.", 409),
    );
    expect(JSON.parse((await run(["cr", "show", "3", "--json"])).stdout).merge_preview).toBeNull();
    const plain = await run(["cr", "show", "3"]);
    expect(plain).toMatchObject({ code: 0 });
    expect(plain.stdout).toContain("Merge preview: not available. The branch fix-login is gone.");
    api.on("GET /projects/:p/change-requests/:n", () => ({
      change_request: changeRequest({ status: "closed" }),
    }));
    api.seen.length = 0;
    expect(JSON.parse((await run(["cr", "show", "3", "--json"])).stdout).merge_preview).toBeNull();
    expect(api.seen).toHaveLength(1);
  });

  test("diff prints the patch byte for byte", async () => {
    const bytes = Buffer.concat([
      Buffer.from(PATCH),
      Buffer.from([0xff, 0xfe, 0x1b, 0x5b, 0x0d, 0x0a, 0x00]),
    ]);
    api.on("GET /projects/:p/change-requests/:n/diff", () => new Response(bytes));
    const child = spawnSvc(["cr", "diff", "3"], { env: api.env });
    const out = new Response(child.stdout).bytes();
    expect([await textOf(child.stderr), await child.exited]).toEqual(["", 0]);
    expect(bytes.equals(await out)).toBe(true);
    expect(api.seen[0]?.headers.get("accept")).toBe("text/x-diff");
  });

  test("diff --json prints the API's object; --color=always colours a pipe", async () => {
    const json = JSON.parse((await run(["cr", "diff", "3", "--json=patch,files_changed"])).stdout);
    expect(json).toEqual({ patch: PATCH, files_changed: 1 });
    const forced = await run(["cr", "diff", "3", "--color=always"]);
    expect(forced.stdout).toContain("\x1b[32m+new\x1b[0m");
    expect((await run(["cr", "diff", "3", "--no-color"], { env: { FORCE_COLOR: "1" } })).stdout).toBe(PATCH);
  });

  test("diff --name-only prints paths, and --stat counts lines", async () => {
    const hostile = "a\u001b[31mb\nc";
    const files = [
      { path: "login.ts", status: "modified", additions: 1, deletions: 2, binary: false },
      { path: hostile, status: "added", additions: 0, deletions: 0, binary: true },
    ] as const;
    api.on("GET /projects/:p/change-requests/:n/diff", () => ({ ...diff(), files }));
    const escaped = "a\\x1b[31mb\\nc";
    expect((await run(["cr", "diff", "3", "--name-only"])).stdout).toBe(`login.ts\n${escaped}\n`);
    const { stdout } = await run(["cr", "diff", "3", "--stat"]);
    expect(stdout).toBe((await run(["cr", "files", "3"])).stdout);
    expect(stdout).toBe(`login.ts\tmodified\t1\t2\n${escaped}\tadded\t\t\n`);
    const both = await run(["cr", "diff", "3", "--stat", "--name-only"]);
    expect([both.code, both.stdout]).toEqual([2, ""]);
    expect(both.stderr).toContain("cannot be used together");
  });

  test("open --draft opens a draft; ready and ready --undo change it, and lists and show say so", async () => {
    const opened = await run(["cr", "open", "-t", "T", "--head", "a", "--draft"]);
    expect(opened.stdout).toBe("#4 T: opened as a draft, a → main\n");
    expect(api.seen[0]?.body).toEqual({ title: "T", head_ref: "a", draft: true });
    for (const [undo, says] of [
      [[], "ready to be merged"],
      [["--undo"], "now a draft"],
    ] as const) {
      const ran = await run(["cr", "ready", "3", ...undo]);
      expect([ran.code, ran.stdout]).toEqual([0, `#3 Fix the login page: ${says}\n`]);
      expect(api.seen.at(-1)).toMatchObject({ method: "PATCH", body: { draft: undo.length > 0 } });
    }
    const draft = changeRequest({ draft: true });
    api.on("GET /projects/:p/change-requests", () => ({
      change_requests: [draft, { ...draft, status: "closed" }, changeRequest()],
    }));
    const { stdout } = await run(["cr", "ls", "--status", "all"]);
    const states = stdout
      .trimEnd()
      .split("\n")
      .map((row) => row.split("\t")[4]);
    expect(states).toEqual(["draft", "closed", "open"]);
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: draft }));
    const shown = await run(["cr", "show", "3"]);
    expect(shown.stdout).toContain("status\tdraft\n");
    expect(shown.stderr).toContain("svc cr ready 3");
    expect(shown.stderr).not.toContain("svc cr merge");
  });

  test("revert opens a change request of what it is given, and lists the files of a conflict", async () => {
    const reverted = await run(["cr", "revert", "3"]);
    expect(reverted.stdout).toBe('#4 Revert "Fix the login page": opened, revert-3-fix-login → main\n');
    expect(reverted.stderr).toContain("Next: svc cr show 4\n");
    expect(api.seen.at(-1)).toMatchObject({ method: "POST", body: {} });
    await run(["cr", "revert", "3", "-t", "Undo", "-b", "It broke.", "--branch", "undo"]);
    expect(api.seen.at(-1)?.body).toEqual({ title: "Undo", description: "It broke.", branch: "undo" });
    api.on("POST /projects/:p/change-requests/:n/revert", () =>
      failure("merge_conflict", "Cannot revert #3.", 409, { conflicts: ["a.ts"] }),
    );
    const refused = await run(["cr", "revert", "3"]);
    expect([refused.code === 0, refused.stdout]).toEqual([false, ""]);
    expect(refused.stderr).toContain("Cannot revert #3.");
    expect(refused.stderr).toContain("a.ts");
    const original = changeRequest({ status: "merged", reverted_by: 4, reverts: 2 });
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: original }));
    const { stdout } = await run(["cr", "show", "3"]);
    expect(stdout).toContain("reverts\t#2\n");
    expect(stdout).toContain("reverted by\t#4\n");
  });

  test("merge --auto has the head merged later, and --disable-auto does not", async () => {
    const ran = await run(["cr", "merge", "3", "--auto", "--squash", "-m", "M", "--delete-branch"]);
    expect([ran.code, ran.stdout]).toEqual([
      0,
      "#3 Fix the login page: aaaaaaaaaa will be merged once its checks and approvals allow it\n",
    ]);
    expect(ran.stderr).toContain("svc cr merge 3 --disable-auto");
    const body = { head_commit_sha: "a".repeat(40), method: "squash", message: "M", delete_branch: true };
    expect(api.seen.at(-1)).toMatchObject({ method: "PUT", body });
    expect(api.seen.some(({ method }) => method === "POST")).toBe(false);
    const off = await run(["cr", "merge", "3", "--disable-auto"]);
    expect([off.code, off.stdout]).toEqual([0, "#3 Fix the login page: auto-merge is off\n"]);
    expect(api.seen.at(-1)?.method).toBe("DELETE");
    api.seen.length = 0;
    for (const more of [["--auto"], ["--squash"], ["-m", "M"], ["--delete-branch"], ["--match-head", "a"]])
      expect((await run(["cr", "merge", "3", "--disable-auto", ...more])).code).toBe(2);
    expect(api.seen).toEqual([]);
  });

  test.each([
    [{}, "auto-merge\ton, for aaaaaaaaaa by Ada\n"],
    [{ method: "squash" }, "auto-merge\ton, for aaaaaaaaaa, squash by Ada\n"],
    [{ enabled: false, off_reason: "It \x1b[2J moved." }, "auto-merge\toff. It \\x1b[2J moved.\n"],
  ])("show says whether auto-merge is on, or why not: %p", async (change, line) => {
    const auto_merge = autoMerge(change);
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest({ auto_merge }) }));
    expect((await run(["cr", "show", "3"])).stdout).toContain(line);
  });

  test("merge says at which position of a merge queue it is, and show does", async () => {
    api.on("POST /projects/:p/change-requests/:n/merge", () =>
      Response.json(changeRequest({ queue: queued() }), { status: 202 }),
    );
    const ran = await run(["cr", "merge", "3"]);
    expect([ran.code, ran.stdout]).toEqual([
      0,
      "#3 Fix the login page: queued at position 2 to be merged into main\n",
    ]);
    expect(ran.stderr).toContain("svc cr dequeue 3");
    const rows: [change: object, line: string][] = [
      [{}, "merge queue\tposition 2, dddddddddd is tested: 1 of 2 passed, 1 pending\n"],
      [{ tested_commit_sha: null, checks: null }, "merge queue\tposition 2\n"],
      [{ position: null, reason: "It \x1b[2J failed." }, "merge queue\tremoved. It \\x1b[2J failed.\n"],
    ];
    for (const [change, line] of rows) {
      const change_request = changeRequest({ queue: queued(change), merge_queue: true });
      api.on("GET /projects/:p/change-requests/:n", () => ({ change_request }));
      const shown = await run(["cr", "show", "3"]);
      expect(shown.stdout).toContain(line);
      expect(shown.stderr.includes("svc cr merge 3")).toBe(change_request.queue?.position === null);
    }
    expect((await run(["cr", "queue"])).stdout).toMatch(/^2\t3\tFix the login page\ttesting\td{40}\t1 of 2/);
    expect((await run(["cr", "merge", "3", "--auto", "--watch"])).code).toBe(2);
  });

  test.each([
    [{ status: "merged", merge_commit_sha: "d".repeat(40), queue: null }, 0, "merged into main"],
    [{ queue: queued({ position: null, reason: "It \x1b[2J failed." }) }, 1, "It \\x1b[2J failed."],
    [{ queue: null }, 1, "It was removed."],
    [{ status: "closed", queue: null }, 1, "It was closed."],
  ] as const)(
    "merge --watch ends when the change request has left the queue: %j",
    async (end, code, says) => {
      api.on("POST /projects/:p/change-requests/:n/merge", () =>
        Response.json(changeRequest({ queue: queued() }), { status: 202 }),
      );
      let reads = 0;
      api.on("GET /projects/:p/change-requests/:n", () => ({
        // before the merge, which reads the head
        change_request: changeRequest(reads++ === 0 ? {} : end),
      }));
      const ran = await run(["cr", "merge", "3", "--watch"]);
      expect(ran.code).toBe(code);
      expect(`${ran.stdout}${ran.stderr}`).toContain(says);
      expect(ran.stderr).toContain("position 2, dddddddddd is tested");
    },
  );

  test("queue --watch notes what happens until the queue is empty", async () => {
    const inQueue = (number: number, position: number) =>
      changeRequest({ number, queue: queued({ position, tested_commit_sha: null, checks: null }) });
    const both = [inQueue(3, 1), inQueue(4, 2)];
    // what has not changed is noted once
    const states = [both, both, [inQueue(4, 1)], []];
    api.on("GET /projects/:p/queue", () => ({ base_ref: "main", entries: states.shift() }));
    api.on("GET /projects/:p/change-requests/:n", ({ path }) => ({
      change_request: path.endsWith("/3")
        ? changeRequest({ number: 3, status: "merged", queue: null })
        : changeRequest({ number: 4, queue: queued({ position: null, reason: "It \x1b[2J failed." }) }),
    }));
    const ran = await run(["cr", "queue", "--watch"]);
    expect([ran.code, ran.stdout, states.length]).toEqual([0, "", 0]);
    expect(ran.stderr.trim().split("\n")).toEqual([
      "#3 position 1",
      "#4 position 2",
      "#3 was merged.",
      "#4 position 1",
      "#4 left the merge queue and was not merged. It \\x1b[2J failed.",
      "The merge queue of main is empty.",
    ]);
  });

  test.each([
    [{ status: "merged", queue: null }, 0, "merged into main"],
    [{ queue: null }, 1, "It was removed."],
  ] as const)("queue 3 --watch ends when it has left the queue: %j", async (end, code, says) => {
    let reads = 0;
    api.on("GET /projects/:p/change-requests/:n", () => ({
      change_request: changeRequest(reads++ === 0 ? { queue: queued() } : end),
    }));
    const ran = await run(["cr", "queue", "3", "--watch"]);
    expect([ran.code, reads]).toEqual([code, 2]);
    expect(`${ran.stdout}${ran.stderr}`).toContain(says);
    const later = await run(["cr", "queue", "3"]);
    expect([later.code, later.stdout]).toEqual([0, ""]);
    expect(later.stderr).toContain("#3 is not in a merge queue.");
  });

  test("merge --delete-branch sends the choice, and says what became of the branch", async () => {
    const rows: [head_branch: { deleted: boolean; reason: string | null }, says: string][] = [
      [{ deleted: true, reason: null }, "Deleted the branch fix-login\n"],
      [{ deleted: false, reason: "It is \x1b[2J protected." }, "not deleted. It is \\x1b[2J protected.\n"],
    ];
    for (const [head_branch, says] of rows) {
      api.on("POST /projects/:p/change-requests/:n/merge", () => ({ ...merged("merge"), head_branch }));
      const ran = await run(["cr", "merge", "3", "--delete-branch"]);
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(says)]);
      expect(api.seen.at(-1)?.body).toMatchObject({ delete_branch: true });
    }
    api.reset();
    const ran = await run(["cr", "merge", "3"]);
    expect(api.seen.at(-1)?.body).not.toHaveProperty("delete_branch");
    expect(ran.stderr).not.toContain("branch");
  });

  test("open sends its flags, under each of their names", async () => {
    const ran = await run(["cr", "create", "--title", "T", "--from", "a", "--into", "b", "--body", "D"]);
    expect(ran).toMatchObject({ code: 0, stdout: "#4 T: opened, a → b\n" });
    expect(ran.stderr).toContain("Opened #4. Next: svc cr show 4");
    expect(api.seen[0]?.body).toEqual({ title: "T", head_ref: "a", base_ref: "b", description: "D" });
    await run(["cr", "new", "--title", "T", "--head", "a", "--description-file", "-"], {
      stdin: "long\ntext\n",
    });
    expect(api.seen[1]?.body).toEqual({ title: "T", head_ref: "a", description: "long\ntext\n" });
    await run(["cr", "open", "--title", "--- x", "--head", "-y", "--description", ""]);
    expect(api.seen[2]?.body).toEqual({ title: "--- x", head_ref: "-y", description: "" });
  });

  test("open in a session uses the session and its branch", async () => {
    const session = "55555555-5555-4555-8555-555555555555";
    await run(["cr", "open", "--title", "T"], { env: { SVC_SESSION_ID: session, SVC_BRANCH_NAME: session } });
    expect(api.seen[0]?.body).toEqual({ title: "T", head_ref: session, session_id: session });
    await run(["cr", "open", "--title", "T"], { env: { SVC_HEAD_REF: "other" } });
    expect(api.seen[1]?.body).toEqual({ title: "T", head_ref: "other" });
  });

  test("open outside of a session needs --head", async () => {
    const ran = await run(["cr", "open", "--title", "T"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("needs --head <ref>");
  });

  test("open explains how to push a branch that the host does not have", async () => {
    api.on("POST /projects/:p/change-requests", () =>
      failure("ref_not_found", "There is no branch fix.", 400),
    );
    const ran = await run(["cr", "open", "--title", "T", "--head", "fix"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("git push -u origin fix");
  });

  test("merge reports the outcome", async () => {
    const ran = await run(["cr", "merge", "3", "-m", "Done"]);
    expect(ran).toMatchObject({
      code: 0,
      stdout: `#3 Fix the login page: merged into main, merge commit ${"c".repeat(40)}\n`,
    });
    expect(ran.stderr).toContain(`Merging the head commit ${"a".repeat(40)}`);
    expect(api.seen.at(-1)).toMatchObject({
      method: "POST",
      body: { message: "Done", head_commit_sha: "a".repeat(40) },
    });
    await run(["cr", "merge", "3", "--match-head", "d".repeat(40)]);
    expect(api.seen.at(-1)).toMatchObject({ body: { head_commit_sha: "d".repeat(40) } });
    const json = await run(["cr", "merge", "3", "--jq", ".merge.merge_commit_sha"]);
    expect(json.stdout).toBe(`${"c".repeat(40)}\n`);
  });

  test("merge uses the chosen method, and only one", async () => {
    for (const method of ["merge", "squash", "rebase", "ff-only"] as const) {
      api.on("POST /projects/:p/change-requests/:n/merge", () => merged(method));
      const ran = await run(["cr", "merge", "3", `--${method}`]);
      expect(api.seen.at(-1)).toMatchObject({ body: { method, head_commit_sha: "a".repeat(40) } });
      const how = {
        merge: "merge commit",
        squash: "squashed as",
        rebase: "rebased to",
        "ff-only": "fast-forward to",
      };
      expect(ran.stdout).toBe(`#3 Fix the login page: merged into main, ${how[method]} ${"c".repeat(40)}\n`);
    }
    const both = await run(["cr", "merge", "3", "--squash", "--rebase"]);
    expect([both.code, both.stdout]).toEqual([2, ""]);
    expect(both.stderr).toContain("--squash");
  });

  test("merge names the commit whose rebase conflicts", async () => {
    const extra = { conflicts: ["login.ts"], commit: "e".repeat(40) };
    api.on("POST /projects/:p/change-requests/:n/merge", () =>
      failure("merge_conflict", "Merge failed", 409, extra),
    );
    const ran = await run(["cr", "merge", "3", "--rebase"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`the commit ${"e".repeat(40)} conflicts when it is rebased`);
    expect(ran.stderr).toContain("\n  conflict  login.ts\n");
  });

  test("merge lists conflicts and the next step, as text and as JSON", async () => {
    api.on("POST /projects/:p/change-requests/:n/merge", () =>
      failure("merge_conflict", "Merge failed", 409, { conflicts: ["login.ts", "a b.ts"] }),
    );
    const ran = await run(["cr", "merge", "3"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(
      "error: Merge failed: the branches conflict.\n  conflict  login.ts\n  conflict  a b.ts\n",
    );
    expect(ran.stderr).toContain("git merge origin/main");
    const json = await run(["cr", "merge", "3", "--json"]);
    expect(json).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(json.stderr)).toEqual({
      error: {
        code: "merge_conflict",
        message: "Merge failed: the branches conflict.",
        hint: expect.stringContaining("git push origin HEAD"),
        request_id: "req-1",
        conflicts: ["login.ts", "a b.ts"],
      },
    });
  });

  test("close, reopen and edit", async () => {
    expect((await run(["cr", "close", "3"])).stdout).toBe("#3 Fix the login page: closed\n");
    expect((await run(["cr", "reopen", "3", "--json=status"])).stdout).toBe('{"status":"open"}\n');
    await run(["cr", "edit", "3", "--base", "next"]);
    expect(api.seen.pop()).toMatchObject({ method: "PATCH", body: { base_ref: "next" } });
    const edited = await run(["cr", "edit", "#3", "--title", "New", "--body", ""]);
    expect(edited.stdout).toBe("#3 New: changed\n");
    expect(api.seen.map((call) => [call.method, call.path.split("/").slice(-1)[0], call.body])).toEqual([
      ["POST", "close", undefined],
      ["POST", "reopen", undefined],
      ["PATCH", "3", { title: "New", description: "" }],
    ]);
  });
});

describe("projects", () => {
  test("ls and info", async () => {
    const ls = await run(["projects", "ls"]);
    expect(ls.stdout).toBe(`shop\tShop\tmain\thttps://git.example.com/shop.git\t${PROJECT_ID}\n`);
    const info = await run(["projects", "info", "--json=slug,resolved_from"]);
    expect(info.stdout).toBe('{"slug":"shop","resolved_from":"SVC_PROJECT_ID"}\n');
    expect((await run(["projects", "info", "other"])).stdout).toContain("resolved from\targument\n");
    expect(api.seen.at(-1)?.path).toBe("/projects/other");
  });

  test("new uses the repository's name, reads the secret from stdin, and links the folder", async () => {
    const home = makeHome();
    const ran = await run(
      ["projects", "new", "--repo", "git@git.example.com:team/my-shop.git", "--git-token", "-", "--link"],
      { home, stdin: "sesame\n" },
    );
    expect(ran.code).toBe(0);
    expect(ran.stdout).toBe("Created the project my-shop (shop) on branch main.\n");
    expect(ran.stderr).toContain("Next: svc cr ls");
    expect(api.seen.at(-1)?.body).toEqual({
      name: "my-shop",
      repo_url: "git@git.example.com:team/my-shop.git",
      git_token: "sesame",
    });
    expect(JSON.parse(readFileSync(join(home.cwd, ".svc/link.json"), "utf8")).project_id).toBe(PROJECT_ID);
  });

  test("new accepts the name as its argument, but not an address, and not two names", async () => {
    expect((await run(["projects", "new", "demo"])).code).toBe(0);
    expect(api.seen.at(-1)?.body).toEqual({ name: "demo" });
    expect((await run(["projects", "new", "demo", "--name", "demo"])).code).toBe(0);
    const asked = api.seen.length;
    for (const address of ["https://git.example.com/a/b.git", "git@git.example.com:a/b.git"]) {
      const refused = await run(["projects", "new", address]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("is an address, not a name");
      expect(refused.stderr).toContain("svc projects new --repo <url>");
    }
    const two = await run(["projects", "new", "demo", "--name", "other"]);
    expect(two).toMatchObject({ code: 2, stderr: expect.stringContaining("demo and --name other") });
    expect(api.seen).toHaveLength(asked);
  });

  test("git-credential keeps a key's lines and trims a token", async () => {
    const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n";
    await run(["projects", "git-credential", "--username", "git"], { stdin: `${key}\n` });
    expect(api.seen.at(-1)).toMatchObject({ method: "PUT", body: { username: "git", token: key } });
    await run(["projects", "git-credential"], { stdin: "  sesame\r\n" });
    expect(api.seen.at(-1)?.body).toEqual({ token: "sesame" });
    expect(await run(["projects", "git-credential"])).toMatchObject({ code: 2, stdout: "" });
  });

  test("rm needs --yes without a terminal", async () => {
    const refused = await run(["projects", "rm", "shop"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(api.seen).toHaveLength(0);
    const done = await run(["projects", "rm", "shop", "--yes", "--json"]);
    expect(JSON.parse(done.stdout)).toEqual({ project_id: PROJECT_ID, slug: "shop", deleted: true });
    expect(api.seen.at(-1)).toMatchObject({ method: "DELETE", path: `/projects/${PROJECT_ID}` });
  });

  test("link, the current link, and unlink", async () => {
    const home = makeHome();
    const env = { SVC_PROJECT_ID: "" };
    expect(await run(["projects", "link", "shop"], { home, env })).toMatchObject({ code: 0 });
    const below = join(home.cwd, "a/b");
    mkdirSync(below, { recursive: true });
    const info = await run(["projects", "info", "--jq", ".resolved_from"], { home, env, cwd: below });
    expect(info.stdout).toBe("link\n");
    const wrongPlace = await run(["projects", "unlink"], { home, env, cwd: below });
    expect(wrongPlace.stderr).toContain(`Run \`svc projects unlink\` in ${home.cwd}`);
    expect(await run(["projects", "unlink"], { home, env })).toMatchObject({ code: 0 });
    expect(existsSync(join(home.cwd, ".svc/link.json"))).toBe(false);
  });

  test("open in a linked checkout uses the current branch", async () => {
    const home = makeHome();
    const env = { SVC_PROJECT_ID: "" };
    await run(["projects", "link", "shop"], { home, env });
    mkdirSync(join(home.cwd, ".git"));
    writeFileSync(join(home.cwd, ".git/HEAD"), "ref: refs/heads/feature/x\n");
    const ran = await run(["cr", "open", "--title", "T"], { home, env });
    expect(ran.stderr).toContain("Using the current branch as --head: feature/x");
    expect(api.seen.at(-1)?.body).toEqual({ title: "T", head_ref: "feature/x" });
    writeFileSync(join(home.cwd, ".git/HEAD"), `${"a".repeat(40)}\n`);
    expect(await run(["cr", "open", "--title", "T"], { home, env })).toMatchObject({ code: 2 });
  });

  test("open without a terminal prints the page's address only", async () => {
    const { url } = api;
    const ran = await run(["projects", "open"], { env: { SVC_BROWSER: "false" } });
    expect(ran.stdout).toBe(`${url.replace("/v1", "")}/projects/${PROJECT_ID}\n`);
    const other = await run(["projects", "open", "--json"], {
      env: { SVC_DASHBOARD_URL: "https://d.example.com/" },
    });
    expect(JSON.parse(other.stdout)).toEqual({ url: `https://d.example.com/projects/${PROJECT_ID}` });
  });
});

describe("whoami", () => {
  test("a user and the active account", async () => {
    const ran = await run(["whoami"]);
    expect(ran.stdout).toContain("user\tada@example.com\naccount\tAda's (owner)\n");
    const json = JSON.parse((await run(["whoami", "--json"])).stdout);
    expect(json).toMatchObject({ kind: "user", token_source: "SVC_CLI_TOKEN", host_url: api.url });
    expect(JSON.stringify(json)).not.toContain(TOKEN);
  });

  test("a project and its session", async () => {
    api.on("GET /auth/whoami", () => PROJECT_IDENTITY);
    api.on("GET /accounts/me", () => failure("forbidden", "No account routes.", 403));
    const ran = await run(["whoami"]);
    expect(ran.stdout).toContain(`project\tShop\nproject id\t${PROJECT_ID}\nsession\t55555555-`);
  });

  test("falls back to the account route on an older server", async () => {
    api.on("GET /auth/whoami", () => failure("not_found", "There is no such route.", 404));
    expect((await run(["whoami", "--jq", ".email"])).stdout).toBe("ada@example.com\n");
  });
});

describe("api", () => {
  test("sends the request as given and prints the response unchanged", async () => {
    api.on(
      "GET /projects",
      () => new Response('{"projects" : [1]}', { headers: { "Content-Type": "application/json" } }),
    );
    for (const path of ["projects", "/projects", "/v1/projects", `${api.url}/projects`]) {
      expect((await run(["api", path])).stdout).toBe('{"projects" : [1]}');
    }
    await run(["api", "projects", "-X", "GET", "-F", "limit=3", "-f", "q=a b"]);
    expect(api.seen.at(-1)?.query).toEqual({ limit: "3", q: "a b" });
    await run([
      "api",
      "projects",
      "-F",
      "a[b]=1",
      "-F",
      "l[]=true",
      "-F",
      "l[]=x",
      "-f",
      "n=null",
      "-F",
      "__proto__=1",
    ]);
    expect(api.seen.at(-1)?.method).toBe("POST");
    expect(JSON.stringify(api.seen.at(-1)?.body)).toBe(
      '{"a":{"b":1},"l":[true,"x"],"__proto__":1,"n":"null"}',
    );
    await run(["api", "projects/{project_id}", "-X", "patch", "--input", "-"], { stdin: '{"name":"x"}' });
    expect(api.seen.at(-1)).toMatchObject({
      method: "PATCH",
      path: `/projects/${PROJECT_ID}`,
      body: { name: "x" },
    });
  });

  test("--paginate joins the pages, --jq filters, -i shows the head", async () => {
    api.on("GET /projects", ({ query }) =>
      query["cursor"] ? { projects: [3] } : { projects: [1, 2], next_cursor: "c" },
    );
    expect((await run(["api", "projects", "--paginate"])).stdout).toBe('{"projects":[1,2,3]}');
    expect((await run(["api", "projects", "--paginate", "--jq", ".projects|length"])).stdout).toBe("3\n");
    expect((await run(["api", "projects", "-i"])).stdout).toMatch(/^HTTP 200.*\n(.+: .+\n)+\n\{/);
  });

  test.each([
    "https://evil.example/v1/projects",
    "//evil.example/x",
    "../../metrics",
    "projects/../../../x",
    "http://127.0.0.1:1/v1/projects",
    "file:///etc/passwd",
    "..%2f..%2fmetrics/../../../../x",
  ])("rejects paths outside of the host's API: %s", async (path) => {
    const ran = await run(["api", path]);
    expect(api.seen.every((call) => !call.path.includes("metrics"))).toBe(true);
    expect(ran.code).not.toBe(0);
    expect(ran.stdout).toBe("");
  });

  test("an error response fails the command", async () => {
    const ran = await run(["api", "nope"]);
    expect(ran).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("There is no such route."),
    });
  });
});
