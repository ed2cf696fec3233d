import { afterAll, beforeAll, expect, test } from "bun:test";
import { svc } from "../helpers/cli-run.ts";
import { type ModelBench, startModels } from "../helpers/model-bench.ts";

const KEY = "sk-own-9dW2kQx7";
let bench: ModelBench;
beforeAll(async () => {
  bench = await startModels();
});
afterAll(() => bench?.[Symbol.asyncDispose]());

const run = (args: string[], stdin = "") =>
  svc(["models", ...args], {
    stdin,
    env: {
      SVC_API_URL: `${bench.sessions.api.url}/v1`,
      SVC_CLI_TOKEN: bench.sessions.api.token,
      SVC_PROJECT_ID: bench.sessions.projectId,
    },
  });
const URL = ["--url", "https://models.example.com/v1"];

test("a service is added with a key from standard input, listed, changed and removed", async () => {
  const added = await run(
    ["add", "mine", ...URL, "--model", "a=1.25/10/0.125", "--model", "b"],
    `${KEY}\r\n`,
  );
  expect([added.code, added.stdout]).toEqual([0, "Models of mine are called with the project's own key.\n"]);
  const listed = await run(["ls", "--json"]);
  const [mine, ...others] = JSON.parse(listed.stdout);
  expect(mine).toMatchObject({
    id: "mine",
    models: [{ id: "a", input: 1.25, output: 10, cached_input: 0.125 }, { id: "b" }],
  });
  expect(others.map(({ id }: { id: string }) => id)).toEqual(["first", "second", "claude"]);
  expect((await run(["ls"])).stdout).toMatch(
    /mine\tproject\topenai\thttps:\/\/models\.example\.com\/v1\ta, b\n/,
  );
  const kept = await run(["add", "mine", ...URL, "--keep-key", "--json"]);
  expect([kept.code, JSON.parse(kept.stdout).models]).toEqual([0, null]);
  for (const { stdout, stderr } of [added, listed, kept]) expect(stdout + stderr).not.toContain(KEY);
  const gone = await run(["rm", "mine"]);
  expect([gone.code, gone.stdout]).toEqual([0, "Removed mine and its key.\n"]);
  expect((await run(["rm", "mine"])).stderr).toContain("svc models ls");
});

test.each<[string[], string, number, string]>([
  [["add", "mine"], KEY, 2, "--url"],
  [["add", "mine", ...URL], " \n", 2, "--keep-key"],
  [["add", "mine", ...URL, KEY], "", 2, ""],
  [["add", "mine", ...URL, "--model", "a=1"], KEY, 2, "id=input/output"],
  [["add", "mine", ...URL, "--model", "a=1/-2"], KEY, 2, "id=input/output"],
  [["add", "mine", ...URL, "--model", "a=1/2/3/4"], KEY, 2, "id=input/output"],
  [["add", "mine", "--url", "http://127.0.0.1:1"], KEY, 1, "https://"],
  [["add", "mine", ...URL, "--keep-key"], "", 1, "is required"],
])("svc models %j with %j on standard input is an error", async (args, stdin, code, message) => {
  const failed = await run(args, stdin);
  expect([failed.code, failed.stdout]).toEqual([code, ""]);
  expect(failed.stderr).toContain(message);
});

test("an operator adds, lists and removes an upstream of the server, at a private address", async () => {
  const url = "http://127.0.0.1:11434/v1";
  const added = await run(["add", "local", "--server", "--url", url], KEY);
  expect([added.code, added.stdout]).toEqual([0, "Models of local are called with the server's own key.\n"]);
  const shadowed = await run(["add", "first", "--server", "--url", url], KEY);
  expect(shadowed.stderr).toContain("used instead");
  const listed = (await run(["ls", "--server"])).stdout;
  expect(listed).toContain(`local\tserver\topenai\t${url}\tany\n`);
  expect(listed).toContain("first\tserver (not used)\t");
  expect(JSON.parse((await run(["ls", "--json"])).stdout).at(-1)).toMatchObject({ id: "local", url: null });
  expect((await run(["rm", "local"])).code).toBe(1);
  for (const id of ["local", "first"]) expect((await run(["rm", id, "--server"])).code).toBe(0);
  expect((await run(["rm", "local", "--server"])).stderr).toContain("svc models ls --server");
});

test("a member who is no operator cannot see the server's upstreams", async () => {
  const token = await bench.sessions.api.mint("second@example.com");
  const env = { SVC_API_URL: `${bench.sessions.api.url}/v1`, SVC_CLI_TOKEN: token };
  const refused = await svc(["models", "ls", "--server"], { env });
  expect([refused.code, refused.stdout]).toEqual([expect.any(Number), ""]);
  expect(refused.stderr).toContain("operator");
});
