import { afterAll, beforeAll, describe, expect, test as plain } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { changeThroughAgent, type Workplace, workplace } from "../helpers/agent-at-work.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { makeNeighbour } from "../helpers/neighbour.ts";
import { allProcesses, killFound } from "../helpers/processes.ts";
import { Remote } from "../helpers/remote.ts";
import { RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

/** Set in the network namespace: where the sandboxes are. */
const INSIDE = process.env["SVC_TEST_OFFLINE"];
const isBuilt = existsSync("dist/svc-agent");
const TEST_MS = 180_000;

if (INSIDE === undefined) {
  const isHere = RUNTIME !== null && isBuilt;
  const canUnshare = isHere && Bun.spawnSync(["unshare", "--net", "true"]).success;
  const missing = isHere ? "network namespaces (as root: unshare --net)" : RUNTIME_NAME;
  const test = needs(isBuilt ? missing : "dist/svc-agent (npm run build)", canUnshare);

  // nothing but loopback answers there, so whoever would ask the internet for something fails or waits
  test.each([["local"], ["docker"]])(
    "the real agent runtime works offline, in a sandbox of %s",
    async (provider) => {
      const { TEST_DOCKER_HOST: _outside, ...environment } = process.env;
      const command = 'ip link set lo up && exec "$@"';
      const child = Bun.spawn(
        ["unshare", "--net", "sh", "-c", command, "sh", process.execPath, "test", import.meta.path],
        { env: { ...environment, SVC_TEST_OFFLINE: provider }, stdio: ["ignore", "pipe", "pipe"] },
      );
      const said = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect([await child.exited, said.join("")]).toEqual([0, expect.stringContaining("0 fail")]);
    },
    5 * TEST_MS,
  );
} else {
  // an engine of its own, in this namespace
  const docker = INSIDE === "docker" ? (await import("../helpers/docker-engine.ts")).DOCKER : null;
  const isHere = docker === null || docker[1];
  const test = isHere ? plain : needs(docker[0], false);

  describe(`an agent at work, offline, in a sandbox of ${INSIDE}`, () => {
    let api: Api;
    let remote: Remote;
    let work: Workplace;
    const closing: (() => unknown)[] = [];

    beforeAll(async () => {
      if (!isHere) return;
      const url = await modelUrl();
      api = await startApi({ env: { SVC_SANDBOX_PROVIDER: INSIDE, ...runtimeEnvironment({ url }) } });
      remote = new Remote();
      remote.commit("main", { "hello.txt": "hello\n" });
      work = workplace(() => api, (await api.project(remote.url)).project_id);
    }, TEST_MS);
    afterAll(async () => {
      await api?.stop();
      remote?.remove();
      for (const close of closing) await close();
    }, TEST_MS);

    /** A container reaches nothing of this machine's: for it the model is on a host beside. */
    async function modelUrl(): Promise<string> {
      if (docker === null) {
        const model = await startModel();
        closing.push(() => model[Symbol.asyncDispose]());
        return model.url;
      }
      const program = join(import.meta.dir, "../helpers/model-host.ts");
      const host = await makeNeighbour("25.77.77.79", [process.execPath, program]);
      closing.push(() => host.remove());
      return `http://${host.address}:${host.port}/v1`;
    }

    test(
      "it edits, pushes, opens its change request, resolves a conflict; a person merges",
      async () => {
        const id = await changeThroughAgent(work, remote);
        expect(await work.call("DELETE", `/sessions/${id}`)).toMatchObject({ status: 200 });
      },
      TEST_MS,
    );

    test(
      "a model that fails, drops, refuses or hangs is told truly",
      async () => {
        const { session_id: id } = await work.begin("!say Ready.");
        const ends = async (directive: string) => await work.outcome(id, await work.prompt(id, directive));
        expect(await ends("!fail 401")).toMatchObject({
          state: "failed",
          error: expect.stringContaining("told to"),
        });
        expect(await ends("!drop 1\n!say After all.")).toMatchObject({ state: "answered" });
        expect(await ends("!refuse No.")).toMatchObject({ state: "failed" });
        const hanging = await work.prompt(id, "!hang");
        await untilAtWork(id, hanging);
        expect(await work.call("POST", `/sessions/${id}/abort`)).toMatchObject({ status: 200 });
        expect(await work.outcome(id, hanging)).toMatchObject({ state: "aborted" });
        expect(await ends("!say Still here.")).toMatchObject({ state: "answered" });
        await work.call("DELETE", `/sessions/${id}`);
      },
      TEST_MS,
    );

    test(
      "a runtime that is killed in the middle of an answer is started again, and the answer is marked",
      async () => {
        const { session_id: id } = await work.begin("!say Ready.");
        const cut = await work.prompt(id, `!slow 500 ${"word ".repeat(60)}`);
        await untilAtWork(id, cut);
        const runtimes = allProcesses().filter(
          ({ command, environment }) =>
            /opencode serve --port /.test(command) && environment.includes(`SVC_SESSION_ID=${id}`),
        );
        killFound(runtimes[0]?.pid, "SIGKILL");
        expect(await work.outcome(id, cut)).toMatchObject({
          state: "interrupted",
          error: expect.stringMatching(/\w/),
        });
        expect(await work.outcome(id, await work.prompt(id, "!say Back again."))).toMatchObject({
          state: "answered",
        });
        await work.call("DELETE", `/sessions/${id}`);
      },
      TEST_MS,
    );

    /** The sandbox has been given the prompt, and its run shows. */
    async function untilAtWork(id: string, promptId: string): Promise<void> {
      const isGiven = async () => {
        const { body } = await work.call("GET", `/sessions/${id}/prompts/${promptId}`);
        return body.prompt.started_at !== null;
      };
      await until("the prompt was given", isGiven, 60_000);
      const health = () => api.call("GET", `/v1/p/${id}/8000/svc/health`);
      await until("the agent works", async () => (await health()).body?.busy === true, 30_000);
    }
  });
}
