import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "../../../src/contract/session.ts";
import { ExecClient } from "../../../src/conversation/exec.ts";
import { type Api, startApi } from "../../helpers/api.ts";
import { DOCKER, docker } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { Remote } from "../../helpers/remote.ts";
import { standInRuntime } from "../../helpers/stand-in-programs.ts";
import { until } from "../../helpers/until.ts";

const isBuilt = existsSync("dist/svc-agent");
const test = needs(isBuilt ? DOCKER[0] : "dist/svc-agent (npm run build)", DOCKER[1] && isBuilt);

describe("a session in Docker, with svc's own programs", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-runtime-"));
  let api: Api;
  let remote: Remote;
  let projectId: string;

  beforeAll(async () => {
    if (!DOCKER[1] || !isBuilt) return;
    const runtime = await standInRuntime(folder);
    api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "docker", SVC_RUNTIME_BIN: runtime } });
    remote = new Remote();
    remote.commit("main", { "hello.txt": "hello\n" });
    projectId = (await api.project(remote.url)).project_id;
  });

  afterAll(async () => {
    await api?.stop();
    remote?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, `/v1/projects/${projectId}/sessions${path}`, { body });

  async function becomes(id: string, ...statuses: string[]): Promise<Session> {
    let session: Session = (await call("GET", `/${id}`)).body;
    await until(`the session is ${statuses.join(" or ")}`, async () => {
      session = (await call("GET", `/${id}`)).body;
      return statuses.includes(session.status);
    });
    return session;
  }

  test("clones through the API listener, responds, and leaves nothing when it is deleted", async () => {
    const made: Session = (await call("POST", "", {})).body;
    const session = await becomes(made.session_id, "running", "failed");
    const log = await api.call("GET", `/v1/projects/${projectId}/sessions/${made.session_id}/logs`);
    expect([session.status, session.error, session.status === "failed" ? log.text : ""]).toEqual([
      "running",
      null,
      "",
    ]);
    expect(session.sandbox_provider).toBe("docker");
    const inside = (script: string, user = "1000") => execIn(made.session_id, script, user);
    expect(await inside("cat /workspace/hello.txt; git -C /workspace branch --show-current")).toBe(
      `hello\n${made.session_id}\n`,
    );
    // the agent's processes are an ordinary user's, who cannot look into the daemon's
    const users = await inside(
      "for p in /proc/[0-9]*; do echo $(cat $p/comm) $(stat -c %u $p/task); done",
      "0",
    );
    expect(users).toMatch(/^svc-entrypoint 0$/m);
    expect(users).toMatch(/^svc-agent 0$/m);
    expect(users).toMatch(/^opencode 1000$/m);
    expect(await inside("cat /proc/1/environ 2>&1 || true")).toContain("Permission denied");
    // a person's command is an ordinary user's as well, and its terminal is that user's
    const script = 'id -u; stat -c %u "$(tty)"; cat /workspace/hello.txt; cat /proc/1/environ; exit 3';
    const started = await call("POST", `/${made.session_id}/exec`, {
      command: ["sh", "-c", script],
      tty: true,
    });
    expect(started.status).toBe(201);
    expect(await attachTo(api, started.body.path)).toEqual([
      expect.stringMatching(/^1000\r\n1000\r\nhello\r\n.*Permission denied\r\n$/),
      { type: "exit", code: 3, signal: null },
    ]);
    expect((await call("DELETE", `/${made.session_id}`)).status).toBe(200);
    await until(
      "nothing is left",
      async () => !(await names()).some((name) => name.includes(made.session_id)),
    );
  });
});

/** @returns what a command printed, and how it ended */
async function attachTo(api: Api, path: string): Promise<unknown[]> {
  let printed = "";
  const client = new ExecClient({
    connect: (query) =>
      Reflect.construct(WebSocket, [
        `${api.url.replace("http", "ws")}${path}?${query}`,
        { headers: { Authorization: `Bearer ${api.token}` } },
      ]),
    refusal: async () => null,
    stdout: (bytes) => {
      printed += Buffer.from(bytes).toString();
    },
    stderr() {},
  });
  const exit = await client.finished;
  return [printed, exit];
}

async function names(): Promise<string[]> {
  const [containers, networks] = await Promise.all([
    docker("GET", "/containers/json?all=1"),
    docker("GET", "/networks"),
  ]);
  return [
    ...containers.flatMap(({ Names }: { Names: string[] }) => Names),
    ...networks.map(({ Name }: { Name: string }) => Name),
  ];
}

/** Runs a script in a session's sandbox. */
async function execIn(sessionId: string, script: string, User: string): Promise<string> {
  const filters = encodeURIComponent(
    JSON.stringify({ label: [`svc.session=${sessionId}`, "svc.role=sandbox"] }),
  );
  const [{ Id }] = await docker("GET", `/containers/json?filters=${filters}`);
  const exec = { User, AttachStdout: true, AttachStderr: true, Tty: true, Cmd: ["sh", "-c", script] };
  const { Id: execId } = await docker("POST", `/containers/${Id}/exec`, exec);
  const output: string = await docker("POST", `/exec/${execId}/start`, { Detach: false, Tty: true });
  return output.replaceAll("\r\n", "\n");
}
