import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detect } from "../../../cli/commands/init/detect/detect.ts";
import { projectFiles } from "../../../cli/commands/init/scaffold.ts";
import { type Api, startApi } from "../../helpers/api.ts";
import { DOCKER } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { Remote } from "../../helpers/remote.ts";
import { compile } from "../../helpers/sandbox-bench.ts";
import { untilStatus } from "../../helpers/sessions.ts";

const isBuilt = existsSync("dist/svc-agent");
const test = needs(isBuilt ? DOCKER[0] : "dist/svc-agent (npm run build)", DOCKER[1] && isBuilt);

/** As the agent's user, in the workspace and in its home. */
const SETUP =
  "mkdir -p deps ~/.cache && echo 1 > deps/a && ln -s a deps/b && echo 2 > ~/.cache/c && test $(id -u) != 0";

describe("the files of svc init, in Docker", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-runtime-"));
  let api: Api;
  let remote: Remote;

  beforeAll(async () => {
    if (!DOCKER[1] || !isBuilt) return;
    const runtime = join(folder, "opencode");
    await compile(join(import.meta.dir, "../../helpers/opencode.ts"), runtime);
    api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "docker", SVC_RUNTIME_BIN: runtime } });
    remote = new Remote();
  });

  afterAll(async () => {
    await api?.stop();
    remote?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the Dockerfile can be built, and its session runs; the next one gets what the setup command adds", async () => {
    const detected = { ...detect([]), setup: SETUP };
    const files = projectFiles("shop", "", detected).map(({ path, text }) => [path, text]);
    remote.commit("main", Object.fromEntries(files));
    const { project_id } = await api.project(remote.url);
    const sessions = `/v1/projects/${project_id}/sessions`;
    const start = async () => {
      const id: string = (await api.call("POST", sessions, { body: {} })).body.session_id;
      const look = async () => (await api.call("GET", `${sessions}/${id}`)).body;
      const session = await untilStatus(look, ["running", "failed"]);
      const log = (await api.call("GET", `${sessions}/${id}/logs`)).text;
      expect([session.status, session.error, session.status === "failed" ? log : ""]).toEqual([
        "running",
        null,
        "",
      ]);
      expect((await api.call("DELETE", `${sessions}/${id}`)).status).toBe(200);
      return { setup: session.setup?.state, log };
    };
    const first = await start();
    expect(first.log).toContain("RUN dpkg -s $PACKAGES");
    expect(first.log).toContain("svc keeps what the setup command added");
    expect([first.setup, (await start()).setup]).toEqual(["ok", "restored"]);
  });
});
