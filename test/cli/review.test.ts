import { afterAll, beforeEach, expect, test } from "bun:test";
import { approval, changeRequest, changesRequested, comment, diff, fakeApi } from "../helpers/cli-api.ts";
import { type RunOptions, svc, svcOnTerminal } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (args: string[], options: RunOptions = {}) => svc(args, { ...options, env: api.env });
const THREAD = comment().comment_id;
const OTHER = THREAD.replace("0001", "0002");
const REPLY = "55555555-5555-4555-8555-000000000002";
const onComments = "GET /projects/:p/change-requests/:n/comments";

test("comment sends the text to the given place", async () => {
  const rows: [args: string[], body: object, says: string][] = [
    [["Nice."], { body: "Nice." }, "Commented on login.ts:2"],
    [
      ["Why?", "--file", "a b.ts", "--line", "7", "--side", "old"],
      { body: "Why?", path: "a b.ts", line: 7, side: "old" },
      "Commented on a b.ts:7 (before the change)",
    ],
    [
      ["Why?", "--file", "a.ts", "--start-line", "5", "--line", "7"],
      { body: "Why?", path: "a.ts", start_line: 5, line: 7 },
      "Commented on a.ts:5-7",
    ],
    [
      ["Done.", "--reply-to", THREAD],
      { body: "Done.", reply_to: THREAD },
      `Commented in the thread ${THREAD}`,
    ],
  ];
  for (const [args, body, says] of rows) {
    api.seen.length = 0;
    const ran = await run(["cr", "comment", "3", ...args]);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(ran.stdout).toStartWith(says);
    expect(api.seen[0]?.body).toEqual(body);
  }
  const piped = await run(["cr", "comment", "3", "-", "--json=body"], { stdin: "# Long\n\ntext\n" });
  expect(JSON.parse(piped.stdout)).toEqual({ body: "# Long\n\ntext\n" });
  expect(await run(["cr", "comment", "3"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("The comment has no text."),
  });
  expect((await run(["cr", "comment", "3", "x", "--line", "0"])).code).toBe(2);
  expect((await run(["cr", "comment", "3", "x", "--side", "both"])).code).toBe(2);
});

test("the text of a comment is an argument, a flag or a file, once", async () => {
  const bodies: [args: string[], stdin?: string][] = [
    [["words"]],
    [["--body", "words"]],
    [["-b", "words"]],
    [["-F", "-"], "words"],
    [["-"], "words"],
  ];
  for (const [args, stdin = ""] of bodies) {
    const ran = await run(["cr", "comment", "3", ...args], { stdin });
    expect([args, ran.code, api.seen.at(-1)?.body]).toEqual([args, 0, { body: "words" }]);
  }
  api.reset();
  for (const args of [
    ["words", "--body", "more"],
    ["--body", "words", "-F", "-"],
  ]) {
    const ran = await run(["cr", "comment", "3", ...args]);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("given twice") });
  }
  expect(api.seen).toEqual([]);
});

test("reply answers in a thread; resolve ends it, and reopens it with --undo", async () => {
  const replied = await run(["cr", "reply", "3", THREAD, "-"], { stdin: "Done." });
  expect([replied.code, replied.stderr]).toEqual([0, ""]);
  expect(api.seen.at(-1)?.body).toEqual({ body: "Done.", reply_to: THREAD });
  expect(await run(["cr", "resolve", "3", THREAD])).toMatchObject({
    code: 0,
    stdout: "Resolved the thread on login.ts:2.\n",
  });
  expect(api.seen.at(-1)?.path).toEndWith(`/change-requests/3/comments/${THREAD}/resolve`);
  expect(await run(["cr", "resolve", "3", THREAD, "--undo"])).toMatchObject({
    code: 0,
    stdout: "Reopened the thread on login.ts:2.\n",
  });
  expect(api.seen.at(-1)?.path).toEndWith("/unresolve");
  await run(["cr", "resolve", "3", "../../../3/merge"]);
  expect(api.seen.at(-1)?.path).toContain("comments/..%2F..%2F..%2F3%2Fmerge/resolve");
});

test("files prints paths with their lines, and none for a binary file", async () => {
  const files = [
    { path: "a\tb.ts", status: "added", additions: 2, deletions: 0, binary: false },
    { path: "logo.png", status: "modified", additions: 0, deletions: 0, binary: true },
  ] as const;
  api.on("GET /projects/:p/change-requests/:n/diff", () => ({ ...diff(), files }));
  expect((await run(["cr", "files", "3"])).stdout).toBe("a\\tb.ts\tadded\t2\t0\nlogo.png\tmodified\t\t\n");
  expect((await run(["cr", "files", "3", "--jq", ".[].path"])).stdout).toBe("a\tb.ts\nlogo.png\n");
});

test("comments prints rows, or JSON with --json", async () => {
  api.on(onComments, ({ query }) => ({
    comments: query["open"]
      ? [comment()]
      : [
          comment(),
          comment({ comment_id: REPLY, reply_to: THREAD, path: null, line: null, body: "a\tb\nc" }),
        ],
  }));
  const all = await run(["cr", "comments", "3"]);
  const rows = all.stdout
    .trimEnd()
    .split("\n")
    .map((row) => row.split("\t"));
  expect(rows.map(([id, thread, where, by]) => [id, thread, where, by])).toEqual([
    [THREAD, THREAD, "login.ts:2", "Ada"],
    [REPLY, THREAD, "", "Ada"],
  ]);
  expect(rows[1]?.at(-1)).toBe("a\\tb\\nc");
  const open = await run(["cr", "comments", "3", "--open", "--json"]);
  expect(JSON.parse(open.stdout)).toEqual([comment()]);
  api.on(onComments, () => ({ comments: [] }));
  expect(await run(["cr", "comments", "3", "--open"])).toMatchObject({
    stdout: "",
    stderr: "No open comments.\n",
  });
});

test("shows the author: a person, an agent of a person, or a token", async () => {
  const by = (kind: "user" | "agent" | "token") =>
    comment({ author: { ...comment().author, name: "Ada", kind } });
  api.on(onComments, () => ({ comments: [by("user"), by("agent"), by("token")] }));
  const terminal = svcOnTerminal(["cr", "comments", "3"], { env: { ...api.env, NO_COLOR: "1" } });
  await terminal.exited;
  const said = [...terminal.screen().matchAll(/^ {2}(\S.*?),/gm)].map(([, who]) => who);
  expect(said).toEqual(["Ada", "an agent of Ada", 'the token "Ada"']);
});

test("escapes control characters in comments", async () => {
  const hostile = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066 \u009b31m\nsecond line\r";
  api.on(onComments, () => ({
    comments: [
      comment({
        body: hostile,
        quote: hostile,
        path: hostile,
        author: { ...comment().author, name: hostile, kind: "agent" },
      }),
    ],
  }));
  const terminal = svcOnTerminal(["cr", "comments", "3"], { env: { ...api.env, NO_COLOR: "1" } });
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  const screen = terminal.screen();
  for (const raw of ["\x1b]0;", "\x1b[2J", "\x07", "\u202e", "\u2066", "\u009b"])
    expect(screen).not.toContain(raw);
  expect(screen).toContain("\\x1b]0;owned\\x07");
  expect(screen).toContain("an agent of");
  expect(screen).toContain("second line");
  const script = await run(["cr", "comments", "3"]);
  expect(script.stdout).not.toMatch(/[\x1b\x07\u202e\u009b]/);
  const json = await run(["cr", "comments", "3", "--json"]);
  expect(JSON.parse(json.stdout)[0].body).toBe(hostile);
});

test("approve sends the head that it read just before", async () => {
  const ran = await run(["cr", "approve", "3"]);
  expect([ran.code, ran.stdout]).toEqual([
    0,
    "#3 Fix the login page: approved at aaaaaaaaaa; 1 of 2 approvals\n",
  ]);
  expect(api.seen.at(-1)).toMatchObject({ method: "POST", body: { head_commit_sha: "a".repeat(40) } });
  const undone = await run(["cr", "approve", "3", "--undo"]);
  expect(undone.stdout).toContain("approval withdrawn; 0 approvals");
  expect(api.seen.at(-1)?.method).toBe("DELETE");
});

test("review submits a verdict on the head that it read, a text and comments, at once", async () => {
  const commit_id = "a".repeat(40);
  const comments = [{ path: "login.ts", line: 3, start_line: 2, body: "Shorter." }];
  const rows: [flags: string[], sent: object, says: string][] = [
    [["-a"], { event: "APPROVE" }, "approved at aaaaaaaaaa; 1 of 2 approvals"],
    [
      ["-r", "-b", "Shorter."],
      { event: "REQUEST_CHANGES", body: "Shorter." },
      "changes requested; it cannot be merged",
    ],
    [["-c", "-b", "Why?"], { event: "COMMENT", body: "Why?" }, `commented, ${THREAD}`],
    [["-c", "--comments", "-"], { event: "COMMENT", comments }, "1 comment on its files"],
    [
      ["--approve", "-b", "Nice.", "--comments", "-"],
      { event: "APPROVE", body: "Nice.", comments },
      `approved at aaaaaaaaaa; 1 of 2 approvals; commented, ${THREAD}; 1 comment on its files`,
    ],
  ];
  for (const [flags, sent, says] of rows) {
    api.seen.length = 0;
    const ran = await run(["cr", "review", "3", ...flags], { stdin: JSON.stringify(comments) });
    expect([flags, ran.code, ran.stdout]).toEqual([flags, 0, `#3 Fix the login page: ${says}\n`]);
    const posts = api.seen.filter(({ method }) => method === "POST");
    expect(posts.map(({ path, body }) => [path.split("/").at(-1), body])).toEqual([
      ["reviews", { ...sent, commit_id }],
    ]);
  }
  const json = await run(["cr", "review", "3", "-c", "-b", "Why?", "--jq", "[.number, .comment.body]"]);
  expect(json.stdout).toBe('[3,"Why?"]\n');
});

test("review sends nothing without exactly one decision, or without a text to comment", async () => {
  for (const flags of [
    [],
    ["-b", "x"],
    ["-a", "-c", "-b", "x"],
    ["-c"],
    ["-r"],
    ["-r", "-a", "-b", "x"],
    ["-a", "-b", "x", "-F", "-"],
    ["-a", "-F", "-", "--comments", "-"],
    ["-a", "--comments", "-"],
    ["-r", "--comments", "-"],
  ]) {
    const ran = await run(["cr", "review", "3", ...flags], { stdin: "{}" });
    expect([flags, ran.code, ran.stdout]).toEqual([flags, 2, ""]);
  }
  expect(api.seen).toEqual([]);
});

test("send and resolve-conflicts prompt the agent, in its session or in a new one", async () => {
  const session_id = "77777777-7777-4777-8777-000000000001";
  const rows = [
    ["send", "send-to-session", "Sent the open threads"],
    ["resolve-conflicts", "resolve-conflicts", "Sent the conflicts"],
  ] as const;
  for (const [command, verb, says] of rows) {
    const ran = await run(["cr", command, "3"]);
    expect(ran).toEqual({
      ...{ code: 0, signal: null, stdout: `${says} to the session ${session_id}.\n` },
      stderr: `To follow it: svc sessions chat ${session_id}\n`,
    });
    expect(api.seen.at(-1)).toMatchObject({ method: "POST", body: {} });
    expect(api.seen.at(-1)?.path).toEndWith(`/change-requests/3/${verb}`);
    api.on(`POST /projects/:p/change-requests/:n/${verb}`, () => ({ session_id: "\x1b[2J", created: true }));
    expect((await run(["cr", command, "3"])).stdout).toBe(`${says} to a new session \\x1b[2J.\n`);
  }
});

test("show lists approvals and open comments", async () => {
  const rows: [change: Parameters<typeof changeRequest>[0], line: string | null][] = [
    [{}, null],
    [{ required_approvals: 1 }, "approvals\t0 of 1 approval"],
    [{ required_approvals: 2, approvals: [approval()] }, "approvals\t1 of 2 approvals: Ada"],
    [
      { required_approvals: 1, approvals: [approval(false)] },
      "approvals\t0 of 1 approval (1 of an earlier commit)",
    ],
    [{ approvals: [approval()] }, "approvals\t1 approval: Ada"],
    [{ approvals: [changesRequested()] }, "approvals\t0 approvals; changes requested by Ada"],
  ];
  for (const [change, line] of rows) {
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest(change) }));
    const { stdout, stderr } = await run(["cr", "show", "3"]);
    expect(stdout.split("\n").find((each) => each.startsWith("approvals")) ?? null).toBe(line);
    expect(stdout).toContain("open comments\t1\n");
    expect(stderr).toContain("svc cr comments 3 --open");
  }
});

test("show lists the files that wait for code owners", async () => {
  const [ada, bob] = [
    { user_id: "1", name: "Ada" },
    { user_id: "2", name: "Bob\x1b[2J" },
  ];
  const of = (line: number, more = {}) => ({
    ...{ line, files: ["db/a.sql", "db/b.sql"], total: 12, owners: [ada, bob], problem: null },
    ...more,
  });
  const lines: [reviews: ReturnType<typeof changeRequest>["code_owner_reviews"], line: string | null][] = [
    [null, null],
    [{ state: "approved", missing: [] }, "code owners\tapproved"],
    [{ state: "pending", missing: [] }, "code owners\tnot read yet"],
    [
      {
        state: "missing",
        missing: [of(1), of(2, { total: 1, owners: [ada] }), of(3, { problem: "No owner." })],
      },
      "code owners\tdb/a.sql and 11 more: Ada or Bob\\x1b[2J; db/a.sql: Ada; No owner.",
    ],
    [
      { state: "missing", missing: [1, 2, 3, 4, 5, 6, 7].map((line) => of(line, { problem: `${line}` })) },
      "code owners\t1; 2; 3; 4; 5; and the files of 2 more lines",
    ],
  ];
  for (const [code_owner_reviews, line] of lines) {
    const cr = changeRequest({ code_owner_reviews });
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: cr }));
    const { stdout } = await run(["cr", "show", "3"]);
    expect(stdout.split("\n").find((each) => each.startsWith("code owners")) ?? null).toBe(line);
  }
});

test("request-changes sends the text and the head that it read just before, withdraws, and dismisses", async () => {
  const said = await run(["cr", "request-changes", "3", "-b", "Why?"]);
  expect([said.code, said.stdout]).toEqual([
    0,
    "#3 Fix the login page: changes requested; it cannot be merged\n",
  ]);
  expect(said.stderr).toContain("svc cr request-changes 3 --undo");
  const last = () => api.seen.at(-1);
  expect(last()).toMatchObject({
    method: "POST",
    body: { body: "Why?", head_commit_sha: "a".repeat(40) },
  });
  await run(["cr", "request-changes", "3", "-F", "-"], { stdin: "# Long\n" });
  expect(last()?.body).toMatchObject({ body: "# Long\n" });
  expect((await run(["cr", "request-changes", "3", "--undo"])).stdout).toContain("withdrawn");
  expect([last()?.method, last()?.path.endsWith("/3/request-changes")]).toEqual(["DELETE", true]);
  const other = { ...changesRequested(), user_id: "22222222-2222-4222-8222-000000000009" };
  const rows: [approvals: ReturnType<typeof approval>[], name: string, dismissed: string | null][] = [
    [[changesRequested()], "Ada", approval().user_id],
    [[changesRequested()], approval().user_id, approval().user_id],
    [[changesRequested()], "Ben", null],
    [[approval()], "Ada", null],
    [[changesRequested(), other], "Ada", null],
    [[changesRequested(), other], other.user_id, other.user_id],
  ];
  for (const [approvals, name, dismissed] of rows) {
    api.seen.length = 0;
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest({ approvals }) }));
    const ran = await run(["cr", "request-changes", "3", "--dismiss", name]);
    const sent =
      api.seen
        .find(({ method }) => method === "DELETE")
        ?.path.split("/")
        .at(-1) ?? null;
    expect([name, ran.code, sent]).toEqual([name, dismissed === null ? 1 : 0, dismissed]);
  }
  for (const args of [[], ["-b", "x", "--undo"], ["-b", "x", "-F", "-"], ["--undo", "--dismiss", "Ada"]])
    expect((await run(["cr", "request-changes", "3", ...args])).code).toBe(2);
});

test("show prints what is requested, with control characters escaped", async () => {
  const approvals = [{ ...changesRequested("Fix\x1b[2J it.\nAll of it."), name: "Ada\x07" }];
  api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest({ approvals }) }));
  const { stdout } = await run(["cr", "show", "3"]);
  expect(stdout).toContain("Changes requested by Ada\\x07:\n  Fix\\x1b[2J it.\n  All of it.\n");
});

test("diff shows what is new since a head", async () => {
  const rows: [flags: string[], since: string | null][] = [
    [[], null],
    [["--since-review"], "review"],
    [["--since", "2"], "2"],
    [["--since", "a".repeat(40), "--stat"], "a".repeat(40)],
  ];
  for (const [flags, since] of rows) {
    api.seen.length = 0;
    expect((await run(["cr", "diff", "3", ...flags])).code).toBe(0);
    expect([flags, api.seen.map(({ query }) => query["since"] ?? null)]).toEqual([flags, [since]]);
  }
  expect((await run(["cr", "diff", "3", "--since", "2", "--since-review"])).code).toBe(2);
});

test("apply commits the suggestion of a comment", async () => {
  const applied = await run(["cr", "apply", "3", THREAD]);
  expect(applied).toMatchObject({
    code: 0,
    stdout: "Committed cccccccccc and resolved the thread on login.ts:2.\n",
  });
  expect(api.seen.at(-1)).toMatchObject({
    path: expect.stringMatching(/\/change-requests\/3\/comments\/apply$/),
    body: { comment_ids: [THREAD] },
  });
});

test.each([
  ["separated by spaces", ["cr", "apply", "3", THREAD, OTHER, "-m", "Rename"]],
  ["separated by commas", ["cr", "apply", "3", `${THREAD},${OTHER}`, "-m", "Rename"]],
])("apply commits several suggestions at once: ids %s", async (_, line) => {
  const applied = await run(line);
  expect(applied).toMatchObject({ code: 0, stdout: "Committed cccccccccc and resolved 2 threads.\n" });
  expect(api.seen.at(-1)?.body).toEqual({ comment_ids: [THREAD, OTHER], message: "Rename" });
  expect(await run(["cr", "apply", "3", `${THREAD},7`])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Not a comment: 7"),
  });
});
