import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { readLines } from "../../cli/mcp/read-lines.ts";
import { cliEnv, makeHome, SVC, svc } from "../helpers/cli-run.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";

let bench: SessionBench;
let env: Record<string, string>;

beforeAll(async () => {
  bench = await startSessions();
  env = { SVC_API_URL: `${bench.api.url}/v1`, SVC_CLI_TOKEN: bench.api.token };
});
afterAll(() => bench?.stop());

/** The responses to these lines, by their ids. */
async function say(lines: unknown[], environment = env) {
  const stdin = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const ran = await svc(["mcp"], { stdin, env: environment });
  const responses = ran.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return { ran, responses, of: (id: unknown) => responses.find((response) => response.id === id) };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: "first",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const list = (id: unknown) => ({ jsonrpc: "2.0", id, method: "tools/list" });

test("the official client lists and calls tools through the program", async () => {
  const [command = "", ...args] = SVC;
  const home = makeHome();
  const transport = new StdioClientTransport({
    command,
    args: [...args, "mcp"],
    env: cliEnv(home.home, env),
    cwd: home.cwd,
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("start_session");
  const { content } = await client.callTool({ name: "list_projects", arguments: {} });
  expect(JSON.stringify(content)).toContain("Example");
  await client.close();
});

test("every request is answered before the program ends, and notifications are not", async () => {
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  const { ran, responses, of } = await say([INITIALIZE, initialized, list(2), list(null), list("2")]);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(responses).toHaveLength(4);
  expect(of("first").result.serverInfo.name).toBe("svc");
  expect(of(2).result.tools.length).toBeGreaterThan(5);
  expect(of("2").result.tools.length).toBeGreaterThan(5);
});

test("what is not a message is refused, and the next one is answered", async () => {
  const { responses, of } = await say(["{", "[]", `"${"x".repeat(1024 * 1024)}"`, list(1)]);
  const refused = responses.filter(({ id }) => id === null).map(({ error }) => error.code);
  expect(refused).toEqual([-32_700, -32_700, -32_600]);
  expect(of(1).result.tools.length).toBeGreaterThan(5);
});

test("a failure is a response with the code and the next step", async () => {
  const unknown = await say([list(1)], { ...env, SVC_CLI_TOKEN: "svc_pat_unknown" });
  expect(unknown.of(1).error).toMatchObject({ code: -32_000, data: { code: "unauthorized" } });
  expect(unknown.of(1).error.message).toContain("svc login");
  const { SVC_CLI_TOKEN: _, ...signedOut } = env;
  expect((await say([list(1)], signedOut)).of(1).error.data).toEqual({ code: "not_signed_in" });
  const away = await say([list(1)], { ...env, SVC_API_URL: "http://127.0.0.1:1/v1" });
  expect(away.of(1).error.data).toEqual({ code: "network" });
});

test("a cancelled request ends without a response", async () => {
  const { session_id } = await bench.create({});
  await bench.becomes(session_id, "running");
  const { promise: end, resolve } = Promise.withResolvers<void>();
  bench.provider.onPrompt = async () => {
    await end;
    return { state: "answered", error: null };
  };
  const { prompt } = (await bench.call("POST", `/${session_id}/prompt`, { body: { text: "x" } })).body;
  const named = { project: bench.projectId, session_id, prompt_id: prompt.prompt_id };
  const call = { name: "wait_for_prompt", arguments: named };
  const { ran, responses } = await say([
    { jsonrpc: "2.0", id: 7, method: "tools/call", params: call },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } },
    list(8),
  ]);
  resolve();
  expect(ran.code).toBe(0);
  expect(responses.map(({ id }) => id)).toEqual([8]);
});

test("lines are read across chunks, and only a line that is too long is discarded", async () => {
  async function* input() {
    for (const chunk of ["ab", "c\n\n12", "345678", "9\r\nd", "é\n", "last"]) yield Buffer.from(chunk);
  }
  expect(await Array.fromAsync(readLines(input(), 8))).toEqual(["abc", null, "dé", "last"]);
});
