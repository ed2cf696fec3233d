import { afterAll, beforeAll, describe, expect, test as plain } from "bun:test";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { changeThroughAgent, type Workplace, workplace } from "../helpers/agent-at-work.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type ScriptedModel, startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { allProcesses } from "../helpers/processes.ts";
import { Remote } from "../helpers/remote.ts";
import { RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

/** The real agent runtime in a local sandbox, with a scripted model: all of svc together. */
const INSIDE = process.env["SVC_TEST_OFFLINE"] === "1";
const isBuilt = existsSync("dist/svc-agent");
const isHere = RUNTIME !== null && isBuilt;
const name = isBuilt ? RUNTIME_NAME : "dist/svc-agent (npm run build)";
const TEST_MS = 120_000;

if (!INSIDE) {
  const canUnshare = Bun.spawnSync(["unshare", "--net", "true"]).success;
  const test = needs(isHere ? "network namespaces (as root: unshare --net)" : name, isHere && canUnshare);

  // nothing but loopback answers there, so whoever would ask the internet for something fails or waits
  test(
    "an agent works offline",
    async () => {
      const command = 'ip link set lo up && exec "$@"';
      const child = Bun.spawn(
        ["unshare", "--net", "sh", "-c", command, "sh", process.execPath, "test", import.meta.path],
        { env: { ...process.env, SVC_TEST_OFFLINE: "1" }, stdio: ["ignore", "pipe", "pipe"] },
      );
      const said = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect([await child.exited, said.join("")]).toEqual([0, expect.stringContaining("0 fail")]);
    },
    10 * TEST_MS,
  );
} else {
  describe("an agent at work, offline", () => {
    let model: ScriptedModel;
    let api: Api;
    let remote: Remote;
    let work: Workplace;

    beforeAll(async () => {
      model = await startModel();
      api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "local", ...runtimeEnvironment(model) } });
      remote = new Remote();
      remote.commit("main", { "hello.txt": "hello\n" });
      work = workplace(() => api, (await api.project(remote.url)).project_id);
    }, TEST_MS);
    afterAll(async () => {
      await api?.stop();
      remote?.remove();
      await model?.[Symbol.asyncDispose]();
    }, TEST_MS);

    plain(
      "edits, pushes, opens its change request, resolves a conflict; a person merges",
      async () => {
        await changeThroughAgent(work, remote);
      },
      TEST_MS,
    );

    plain(
      "a model that fails, drops, refuses or hangs is told truly",
      async () => {
        const { session_id: id } = await work.begin("!say Ready.");
        const ends = async (directive: string) => await work.outcome(id, await work.prompt(id, directive));
        expect(await ends("!fail 401")).toMatchObject({
          state: "failed",
          error: expect.stringContaining("told to"),
        });
        expect(await ends("!drop 1\n!say After all.")).toMatchObject({ state: "answered" });
        expect(await ends("!refuse No.")).toMatchObject({
          state: expect.stringMatching(/^(answered|failed)$/),
        });
        const hanging = await work.prompt(id, "!hang");
        await until("the model is asked", () => model.counts.open > 0, 30_000);
        expect(await work.call("POST", `/sessions/${id}/abort`)).toMatchObject({ status: 200 });
        expect(await work.outcome(id, hanging)).toMatchObject({ state: "aborted" });
        expect(await ends("!say Still here.")).toMatchObject({ state: "answered" });
      },
      TEST_MS,
    );

    plain(
      "a runtime that is killed in the middle of an answer is started again, and the answer is marked",
      async () => {
        const { session_id: id } = await work.begin("!say Ready.");
        const cut = await work.prompt(id, `!slow 500 ${"word ".repeat(60)}`);
        await until("it speaks", () => model.counts.open > 0, 30_000);
        const runtime = allProcesses().find(
          ({ command, environment }) =>
            command.includes(" serve --port ") && environment.includes(`SVC_SESSION_ID=${id}`),
        );
        if (!runtime) throw new Error("there is no runtime");
        process.kill(runtime.pid, "SIGKILL");
        expect(await work.outcome(id, cut)).toMatchObject({
          state: "interrupted",
          error: expect.stringMatching(/\w/),
        });
        expect(await work.outcome(id, await work.prompt(id, "!say Back again."))).toMatchObject({
          state: "answered",
        });
      },
      TEST_MS,
    );
  });
}
