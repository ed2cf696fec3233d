import { afterAll, beforeAll, expect } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { svc } from "../helpers/cli-run.ts";
import { scratch } from "../helpers/gateway.ts";
import { SANDBOXES } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { allProcesses } from "../helpers/processes.ts";
import { Remote } from "../helpers/remote.ts";
import { standInRuntime } from "../helpers/stand-in-programs.ts";
import { until } from "../helpers/until.ts";
import { openWebSocket } from "../helpers/websocket.ts";

/** The three compiled programs together, with a stand-in of the agent runtime in the sandbox. */
const test = needs(...SANDBOXES);
const UPLOAD_MIB = 200;
let api: Api;
let database: TestDatabase | null = null;
let projectId: string;
let remote: Remote;
const tools = scratch();

beforeAll(async () => {
  const runtime = await standInRuntime(tools.path);
  database = POSTGRES ? await createDatabase() : null;
  const env = { SVC_SANDBOX_PROVIDER: "local", SVC_RUNTIME_BIN: runtime };
  api = await startApi({ env: { ...env, ...(database && { DATABASE_URL: database.url }) } });
  remote = new Remote();
  remote.commit("main", { "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = "agents"\n' });
  projectId = (await api.project(remote.url)).project_id;
});
afterAll(async () => {
  await api.stop();
  await database?.drop();
  remote.remove();
  tools[Symbol.dispose]();
});

const run = (...args: string[]) =>
  svc(["sessions", ...args], {
    env: { SVC_API_URL: `${api.url}/v1`, SVC_CLI_TOKEN: api.token, SVC_PROJECT_ID: projectId },
  });

test("a session runs, is reachable through the API, gets its secrets, stops and is deleted", async () => {
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

test("two local sessions serve the same port: each preview shows its own app, with uploads and hot reload", async () => {
  const { project_id } = await api.project(remote.url, { name: "Apps" });
  const secret = `/v1/projects/${project_id}/secrets/APP_PORT`;
  expect((await api.call("PUT", secret, { body: { value: "3000" } })).status).toBe(200);
  const sessions = `/v1/projects/${project_id}/sessions`;
  const ids: string[] = [];
  for (let count = 0; count < 2; count++)
    ids.push((await api.call("POST", sessions, { body: {} })).body.session_id);
  // something that listens on the server's own loopback
  using local = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("the server's machine"),
  });
  try {
    for (const id of ids) {
      const at = (path: string, port = 3000) => `/v1/p/${id}/${port}${path}`;
      await until(
        `the app of ${id} answers`,
        async () => (await api.call("GET", at("/whoami"))).status === 200,
      );
      expect((await api.call("GET", at("/whoami"))).text).toBe(id);
      const link = await api.call("POST", `${sessions}/${id}/preview`, { body: { port: 3000 } });
      expect(link.body.url).toContain(`p3000-${id}`);
      expect(await echoed(at("/ws"), "vite-hmr")).toEqual(["vite-hmr", "hot reload"]);
      expect((await api.call("GET", at("/", local.port))).text).not.toContain("the server's machine");
      expect((await api.call("GET", at("/", Number(new URL(api.url).port)))).status).toBe(502);
    }
    const part = new Uint8Array(1024 ** 2).fill(120);
    let left = UPLOAD_MIB;
    const upload = await fetch(`${api.url}/v1/p/${ids[0]}/3000/upload`, {
      method: "POST",
      headers: { Authorization: `Bearer ${api.token}` },
      body: new ReadableStream({
        pull(controller) {
          if (left-- > 0) controller.enqueue(part);
          else controller.close();
        },
      }),
    });
    expect(await upload.json()).toMatchObject({ bytes: UPLOAD_MIB * part.length });
  } finally {
    expect((await api.call("DELETE", `/v1/projects/${project_id}`)).status).toBe(200);
  }
  await until("nothing is left of the project's sandboxes", () =>
    allProcesses().every(({ environment }) =>
      ids.every((id) => !environment.includes(`SVC_SESSION_ID=${id}`)),
    ),
  );
});

/** The protocol that was chosen, and the echo of a message, on a WebSocket through the API. */
async function echoed(path: string, protocol: string): Promise<string[]> {
  const socket = openWebSocket(`${api.url}${path}`, { Authorization: `Bearer ${api.token}` }, [protocol]);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.onopen = () => socket.send("hot reload");
  socket.onmessage = ({ data }) => resolve(String(data));
  socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
  const said = await promise;
  socket.close();
  return [socket.protocol, said];
}
