import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connectMcp, type McpClient } from "../helpers/mcp.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";

let bench: SessionBench;
/** A session, and the client with the token of its sandbox. */
let session: string;
let token: string;
let agent: McpClient;
let user: McpClient;
let stranger: McpClient;
let slug: string;

const SHARED = [
  "list_change_requests",
  "show_change_request",
  "open_change_request",
  "show_change_request_diff",
  "list_comments",
  "comment_on_change_request",
  "list_sessions",
  "list_triggers",
];
const USERS = ["list_projects", "show_session", "start_session", "send_prompt", "wait_for_prompt"];

beforeAll(async () => {
  bench = await startSessions();
  const { api, remote } = bench;
  remote.commit("work", { a: "2\n", "dir/new.txt": "new\n" }, { from: "main" });
  const created = await bench.create({});
  session = created.session_id;
  await bench.becomes(session, "running");
  token = bench.provider.sandboxes.get(session)?.environment["SVC_EXECUTOR_TOKEN"] ?? "";
  slug = (await api.call("GET", `/v1/projects/${bench.projectId}`)).body.slug;
  [agent, user, stranger] = await Promise.all([
    connectMcp(api.url, token),
    connectMcp(api.url, api.token),
    connectMcp(api.url, await api.mint("stranger@example.com")),
  ]);
});
afterAll(() => bench?.stop());

/** Sends a message as it is. */
function post(body: unknown, headers: Record<string, string> = {}, as: string | null = bench.api.token) {
  return bench.api.call("POST", "/v1/executor/mcp", {
    token: as,
    body,
    headers: { Accept: "application/json, text/event-stream", ...headers },
  });
}

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describe("the list of tools", () => {
  test("depends on the token, and never has a tool that merges or approves", async () => {
    expect((await agent.names()).sort()).toEqual(SHARED.toSorted());
    expect((await user.names()).sort()).toEqual([...SHARED, ...USERS].sort());
    for (const name of await user.names()) expect(name).not.toMatch(/merge|approve/);
  });

  test("has schemas that refuse unknown arguments; only a user names the project", async () => {
    for (const { tools } of [await agent.client.listTools(), await user.client.listTools()])
      for (const { description, inputSchema, annotations } of tools) {
        expect(description?.length).toBeGreaterThan(40);
        expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
        expect(annotations?.destructiveHint).toBe(false);
      }
    const fields = async ({ client }: McpClient) =>
      (await client.listTools()).tools.find(({ name }) => name === "list_comments")?.inputSchema;
    expect((await fields(agent))?.required).toEqual(["number"]);
    expect((await fields(user))?.required).toEqual(["project", "number"]);
  });
});

describe("the tools of change requests", () => {
  test("open, list, show and comment as the agent, in the agent's name", async () => {
    const opened = await agent.call("open_change_request", { title: "By MCP", head_ref: "work" });
    expect(opened.value).toMatchObject({ title: "By MCP", status: "open", origin_session_id: session });
    const { number, url } = opened.value;
    expect(url).toEndWith(`/projects/${slug}/change-requests/${number}`);
    const stored = await bench.api.call("GET", `/v1/projects/${slug}/change-requests/${number}`);
    expect(stored.body.change_request).toMatchObject({
      opened_by_agent: true,
      author: { kind: "agent", session_id: session },
    });

    const listed = await user.call("list_change_requests", { project: slug, search: "By MCP" });
    expect(listed.value.change_requests).toMatchObject([
      { number, author: expect.stringContaining(session) },
    ]);
    const shown = await agent.call("show_change_request", { number });
    expect(shown.value).toMatchObject({ number, merge: { can_merge: true, conflicts: [] } });

    const said = await agent.call("comment_on_change_request", {
      number,
      body: "Fixed.",
      path: "a",
      line: 1,
    });
    expect(said.value).toMatchObject({ body: "Fixed.", path: "a", line: 1, resolved: false });
    const reply = { project: slug, number, body: "Thanks.", reply_to: said.value.comment_id };
    expect((await user.call("comment_on_change_request", reply)).isError).toBe(false);
    const { comments } = (await agent.call("list_comments", { number })).value;
    expect(comments).toMatchObject([
      { author: `agent for first (session ${session})`, body: "Fixed." },
      { author: "first", body: "Thanks.", reply_to: said.value.comment_id },
    ]);
  });

  test("show the diff: the files, then the patch of one or all", async () => {
    const { number } = (await agent.call("open_change_request", { title: "d", head_ref: "work" })).value;
    const whole = (await agent.call("show_change_request_diff", { number })).text;
    expect(whole).toMatch(
      /^#\d+ work \([0-9a-f]{40}\) into main: 2 changed files\. The patch is complete\.\n/,
    );
    expect(whole).toContain("\nmodified +1 -1 a\nadded +1 -0 dir/new.txt\n");
    expect(whole).toContain("\n-1\n+2\n");
    const one = (await agent.call("show_change_request_diff", { number, path: "dir/new.txt" })).text;
    expect(one).toContain("\n+new\n");
    expect(one).not.toContain("\n+2\n");
    expect((await agent.call("show_change_request_diff", { number, path: "b" })).value).toMatchObject({
      code: "not_found",
    });
  });

  test("a long diff ends at a file, and a long file at a line", async () => {
    const lines = (count: number) => "0123456789 0123456789 0123456789 0123456789\n".repeat(count);
    bench.remote.commit(
      "long",
      { "1.txt": lines(1000), "2.txt": lines(1000), "3\n.txt": lines(4000) },
      { from: "main" },
    );
    const { number } = (await agent.call("open_change_request", { title: "l", head_ref: "long" })).value;
    const { text } = await agent.call("show_change_request_diff", { number });
    expect(text).toContain("does not show all files");
    expect(text).toContain("added +1000 -0 2.txt\n");
    expect(text).toContain('added +4000 -0 "3\\n.txt"\n');
    expect(text).toContain("+++ b/1.txt\n");
    expect(text).not.toContain("+++ b/2.txt\n");
    expect((await agent.call("show_change_request_diff", { number, path: "2.txt" })).text).toContain(
      "is complete",
    );
    const long = (await agent.call("show_change_request_diff", { number, path: "3\n.txt" })).text;
    expect(long).toContain("ends inside a file");
    expect(long).toEndWith("0123456789\n");
    expect(long.length).toBeLessThan(62_000);
  });
});

describe("the tools of a user", () => {
  test("start a session, prompt it, and wait for the answer", async () => {
    const { projects } = (await user.call("list_projects")).value;
    expect(projects).toMatchObject([{ slug, default_branch: "main" }]);
    const choice = { runtime: "codex", model: "openai/large", mode: "ask", effort: "high" };
    const asked = { project: slug, prompt: "Do it.", name: "By MCP", ...choice };
    const started = await user.call("start_session", asked);
    const { session_id } = started.value;
    expect(started.value).toMatchObject({
      ...{ name: "By MCP", branch_name: session_id, author: "first" },
      ...choice,
    });
    const first = { project: slug, session_id, prompt_id: session_id };
    expect((await user.call("wait_for_prompt", first)).value).toMatchObject({
      state: "answered",
      text: "Do it.",
    });
    const { prompt_id } = (await user.call("send_prompt", { project: slug, session_id, text: "More." }))
      .value;
    const second = await user.call("wait_for_prompt", { project: slug, session_id, prompt_id });
    expect(second.value).toMatchObject({ state: "answered", error: null });
    const shown = await user.call("show_session", { project: slug, session_id });
    expect(shown.value).toMatchObject({
      status: "running",
      prompts: [{ text: "More." }, { text: "Do it." }],
    });
    const { sessions } = (await agent.call("list_sessions", { status: "running" })).value;
    expect(sessions.map((row: { session_id: string }) => row.session_id)).toContain(session_id);
  });

  test("a wait without time returns the state at once", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    bench.provider.onPrompt = async () => {
      await answered;
      return { state: "answered", error: null };
    };
    const { prompt_id } = (
      await user.call("send_prompt", { project: slug, session_id: session, text: "Slow." })
    ).value;
    const wait = { project: slug, session_id: session, prompt_id, wait_seconds: 0 };
    expect((await user.call("wait_for_prompt", wait)).value.state).toMatch(/^(queued|running)$/);
    answer();
    expect((await user.call("wait_for_prompt", { ...wait, wait_seconds: 50 })).value.state).toBe("answered");
  });
});

describe("authorization", () => {
  test("a stranger gets the errors of the routes, before the arguments are validated", async () => {
    const call = (project: string) => stranger.call("list_comments", { project, wrong: 1 });
    expect(await call(slug)).toMatchObject({ isError: true, value: { code: "not_found" } });
    expect(await call(bench.projectId)).toMatchObject({ isError: true, value: { code: "forbidden" } });
  });

  test("a project's token is for its project only, and cannot call the tools of users", async () => {
    const other = (await bench.api.project(bench.remote.url)).project_id;
    expect(await agent.call("list_sessions", { project: other })).toMatchObject({
      isError: true,
      value: { code: "forbidden" },
    });
    await expect(agent.call("start_session", { prompt: "x" })).rejects.toThrow(
      'Tool "start_session" not found',
    );
  });

  test("a user must name the project", async () => {
    for (const project of [undefined, "", 3])
      expect((await user.call("list_triggers", { project })).value).toMatchObject({
        code: "validation_failed",
        error: expect.stringContaining("project is required"),
      });
  });

  test("without a token, or with a cookie, the answer is 401", async () => {
    const none = await post(LIST, {}, null);
    expect(none).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(none.headers.get("www-authenticate")).toBe("Bearer");
    expect(await post(LIST, {}, "svc_pat_unknown")).toMatchObject({ status: 401 });
  });

  test("a page of another site is refused, whatever host it names", async () => {
    const { host, port } = new URL(bench.api.url);
    const from = (origin: string, at = host) => post(LIST, { Origin: origin, Host: at });
    expect((await from("https://evil.example")).status).toBe(403);
    expect((await from("http://evil.example", "evil.example")).status).toBe(403);
    expect((await from("null")).status).toBe(403);
    expect((await from(`http://localhost:${port}`)).status).toBe(200);
    expect((await from(`http://${host}`)).status).toBe(200);
  });
});

describe("errors", () => {
  test("are results with the code, the field and the next step", async () => {
    const wrong = await agent.call("show_change_request", { number: "1" });
    expect(wrong).toMatchObject({ isError: true, value: { code: "validation_failed" } });
    expect(wrong.value.details).toEqual([{ path: "number", message: "must be a whole number" }]);
    expect((await agent.call("list_triggers", { slug: "x" })).value.error).toBe(
      'The tool has no argument "slug". The tool has no arguments.',
    );
    expect((await agent.call("list_comments", { number: 1, page: 2 })).value.error).toContain(
      "Its arguments are number, unresolved_only, limit, cursor.",
    );
    const missing = await agent.call("open_change_request", { title: "t", head_ref: "no-such" });
    expect(missing.value).toMatchObject({
      code: "ref_not_found",
      error: expect.stringContaining("git push"),
    });
    expect((await agent.call("list_comments", { number: 1, cursor: "x" })).value.code).toBe(
      "validation_failed",
    );
  });

  test("of the protocol are the protocol's, and only POST is supported", async () => {
    expect(await post({ ...LIST, method: "no/such" })).toMatchObject({
      status: 200,
      body: { error: { code: -32601 } },
    });
    expect(await post({ hello: 1 })).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    expect(await post(LIST, { Accept: "text/html" })).toMatchObject({ status: 406 });
    expect(await post(LIST, { "MCP-Protocol-Version": "1999-01-01" })).toMatchObject({ status: 400 });
    expect(await post(undefined)).toMatchObject({ status: 400, body: { code: "invalid_json" } });
    expect(await post({ jsonrpc: "2.0", method: "notifications/initialized" })).toMatchObject({
      status: 202,
    });
    const get = await bench.api.call("GET", "/v1/executor/mcp");
    expect(get).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
    expect(get.headers.get("allow")).toBe("POST");
  });

  test("a client of an older protocol gets its own version, a newer one the latest", async () => {
    const initialize = async (protocolVersion: string) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } };
      return (await post({ jsonrpc: "2.0", id: 1, method: "initialize", params })).body.result;
    };
    expect(await initialize("2025-03-26")).toMatchObject({
      protocolVersion: "2025-03-26",
      serverInfo: { name: "svc" },
    });
    expect((await initialize("2999-01-01")).protocolVersion).toMatch(/^2025-/);
  });
});
