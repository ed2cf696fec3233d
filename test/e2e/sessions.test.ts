import { afterAll, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { type Api, startApi } from "../helpers/api.ts";
import { svc } from "../helpers/cli-run.ts";
import { scratch } from "../helpers/gateway.ts";
import { SANDBOXES } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { allProcesses } from "../helpers/processes.ts";
import { Remote } from "../helpers/remote.ts";
import { compile } from "../helpers/sandbox-bench.ts";
import { until } from "../helpers/until.ts";

/** The three compiled programs together, with a stand-in of the agent runtime in the sandbox. */
const test = needs(...SANDBOXES);
let api: Api;
let projectId: string;
let remote: Remote;
const tools = scratch();

beforeAll(async () => {
  const runtime = join(tools.path, "opencode");
  await compile(join(import.meta.dir, "../helpers/opencode.ts"), runtime);
  api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "local", SVC_RUNTIME_BIN: runtime } });
  remote = new Remote();
  remote.commit("main", { "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = "agents"\n' });
  projectId = (await api.project(remote.url)).project_id;
});
afterAll(async () => {
  await api.stop();
  remote.remove();
  tools[Symbol.dispose]();
});

const run = (...args: string[]) =>
  svc(["sessions", ...args], {
    env: { SVC_API_URL: `${api.url}/v1`, SVC_CLI_TOKEN: api.token, SVC_PROJECT_ID: projectId },
  });

test("a session runs, is reached through the API, gets its secrets, stops and goes", async () => {
  const begun = await run("new", "--name", "Try");
  const id = begun.stdout.split(" ")[0] ?? "";
  expect(begun).toMatchObject({ code: 0, stdout: `${id} Try: running\n` });
  expect(remote.sha(id)).toBe(remote.sha("main"));

  const daemon = (path: string, token?: string | null) =>
    api.call("GET", `/v1/p/${id}/8000${path}`, token === undefined ? {} : { token });
  expect((await daemon("/svc/health")).body).toMatchObject({
    daemon: "ok",
    runtime: "ok",
    clone: "ok",
    branch: id,
    commit: remote.sha("main"),
  });
  expect((await daemon("/global/health")).body).toMatchObject({ healthy: true });
  expect((await daemon("/global/health", null)).status).toBe(401);

  const inside = () =>
    allProcesses().filter(({ environment }) => environment.includes(`SVC_SESSION_ID=${id}`));
  const runtimes = () => inside().filter(({ command }) => command.includes("opencode serve"));
  const [first] = runtimes();
  expect(first?.environment).toContainEqual(expect.stringMatching(/^OPENCODE_CONFIG_DIR=\/.+\/agentrt$/));
  for (const { environment } of runtimes())
    expect(environment.filter((variable) => variable.includes("svc_sb_"))).toEqual([]);
  for (const { command } of inside()) expect(command).not.toMatch(/svc_(sb|pat|git)_/);

  await api.call("PUT", `/v1/projects/${projectId}/secrets/GREETING`, { body: { value: "hello there" } });
  await until("the runtime has the secret", () =>
    runtimes().some(({ environment }) => environment.includes("GREETING=hello there")),
  );
  await api.call("DELETE", `/v1/projects/${projectId}/secrets/GREETING`);
  await until(
    "the runtime has lost it",
    () =>
      runtimes().length > 0 &&
      runtimes().every(
        ({ environment }) => !environment.some((variable) => variable.startsWith("GREETING=")),
      ),
  );

  expect((await run("logs", id)).stdout).toMatch(/^\d{4}-\S+Z\tsandbox\tagent the runtime is ready$/m);
  expect(await run("stop", id)).toMatchObject({ code: 0 });
  expect(inside()).toEqual([]);
  // who was let in a moment ago is known for a second
  await until("it is known to be stopped", async () => (await daemon("/svc/health")).status === 503);
  const refused = await daemon("/svc/health");
  expect(refused.body).toMatchObject({ code: "not_running", status: "stopped" });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await run("restart", id)).toMatchObject({ code: 0 });
  expect((await daemon("/global/health")).status).toBe(200);
  expect(await run("rm", id, "--yes")).toMatchObject({ code: 0 });
  expect(inside()).toEqual([]);
  expect(remote.sha(id)).toBe(remote.sha("main"));
});

test("a project that is deleted takes its sandboxes along", async () => {
  const other = await api.project(remote.url, { name: "Other" });
  const made = await api.call("POST", `/v1/projects/${other.project_id}/sessions`, { body: {} });
  const id: string = made.body.session_id;
  const isRunning = async () =>
    (await api.call("GET", `/v1/projects/${other.project_id}/sessions/${id}`)).body.status === "running";
  await until("it runs", isRunning);
  expect((await api.call("DELETE", `/v1/projects/${other.project_id}`)).status).toBe(200);
  await until(
    "nothing is left",
    () => !allProcesses().some(({ environment }) => environment.includes(`SVC_SESSION_ID=${id}`)),
  );
});
