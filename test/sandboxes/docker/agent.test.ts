import { afterAll, beforeAll, describe } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { changeThroughAgent, workplace } from "../../helpers/agent-at-work.ts";
import { type Api, startApi } from "../../helpers/api.ts";
import { DOCKER } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { makeNeighbour, type Neighbour } from "../../helpers/neighbour.ts";
import { Remote } from "../../helpers/remote.ts";
import { RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../../helpers/runtime.ts";

const isBuilt = existsSync("dist/svc-agent");
const isHere = DOCKER[1] && RUNTIME !== null && isBuilt;
const missing = RUNTIME === null ? RUNTIME_NAME : DOCKER[1] ? "dist/svc-agent (npm run build)" : DOCKER[0];
const test = needs(missing, isHere);
const TEST_MS = 180_000;

describe("an agent at work in Docker", () => {
  let model: Neighbour;
  let api: Api;
  let remote: Remote;
  let projectId: string;

  beforeAll(async () => {
    if (!isHere) return;
    // a sandbox reaches the internet, and nothing of this machine's: there the model is
    const program = join(import.meta.dir, "../../helpers/model-host.ts");
    model = await makeNeighbour("25.77.77.79", [process.execPath, program]);
    const environment = runtimeEnvironment({ url: `http://${model.address}:${model.port}/v1` });
    api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "docker", ...environment } });
    remote = new Remote();
    remote.commit("main", { "hello.txt": "hello\n" });
    projectId = (await api.project(remote.url)).project_id;
  }, TEST_MS);
  afterAll(async () => {
    await api?.stop();
    remote?.remove();
    model?.remove();
  }, TEST_MS);

  test(
    "edits, pushes, opens its change request, resolves a conflict; a person merges",
    async () => {
      const work = workplace(() => api, projectId);
      const id = await changeThroughAgent(work, remote);
      await work.call("DELETE", `/sessions/${id}`);
    },
    TEST_MS,
  );
});
