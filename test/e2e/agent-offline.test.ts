import { afterAll, beforeAll, describe, expect, test as plain } from "bun:test";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { freePort } from "../../scripts/free-port.ts";
import { startPostgres } from "../../scripts/postgres-server.ts";
import { TEST_LIMIT_MS } from "../../scripts/test/limit.ts";
import { changeThroughAgent, readUntil, type Workplace, workplace } from "../helpers/agent-at-work.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { cliEnv, makeHome, SVC } from "../helpers/cli-run.ts";
import { LEFT_ALONE } from "../helpers/halting.ts";
import { SANDBOXES } from "../helpers/isolation.ts";
import { startModelFor } from "../helpers/model-place.ts";
import { needs } from "../helpers/needs.ts";
import { allProcesses, killFound } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

/** Set in the network namespace: where the sandboxes are. */
const INSIDE = process.env["SVC_TEST_OFFLINE"];
/** The tests that run in it, each with a limit of its own; an engine that has to be started counts as one, and so do its images. */
const INSIDE_TESTS = 4;
const isBuilt = existsSync("dist/svc-agent");
const WORDS = Array.from({ length: 32 }, (_, index) => `word${index}`);

if (INSIDE === undefined) {
  const isHere = RUNTIME !== null && isBuilt;
  const canUnshare = isHere && Bun.spawnSync(["unshare", "--net", "true"]).success;
  const missing = isHere ? "network namespaces (as root: unshare --net)" : RUNTIME_NAME;
  const unshared = needs(isBuilt ? missing : "dist/svc-agent (npm run build)", canUnshare);
  const test = canUnshare ? needs(...SANDBOXES) : unshared;

  // only loopback works there, so any request to the internet fails or hangs
  test.each(sample(1, [["local"], ["docker"]]))(
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
    INSIDE_TESTS * TEST_LIMIT_MS,
  );
} else {
  // an engine of its own, in this namespace
  const docker = INSIDE === "docker" ? (await import("../helpers/docker-engine.ts")).DOCKER : null;
  const isHere = docker === null || docker[1];
  const test = isHere ? plain : needs(docker[0], false);

  describe(`an agent at work, offline, in a sandbox of ${INSIDE}`, () => {
    let api: Api;
    let database: Awaited<ReturnType<typeof startPostgres>>;
    let env: Record<string, string>;
    let remote: Remote;
    let work: Workplace;
    let model: Awaited<ReturnType<typeof startModelFor>>;

    beforeAll(async () => {
      if (!isHere) return;
      model = await startModelFor(INSIDE, "25.77.77.79");
      // that of the test command is outside of this namespace
      database = await startPostgres();
      env = {
        ...{ ...LEFT_ALONE, ...runtimeEnvironment(model), SVC_SANDBOX_PROVIDER: INSIDE },
        SVC_PORT: String(freePort()),
        ...("url" in database && { DATABASE_URL: database.url }),
      };
      api = await startApi({ env });
      remote = new Remote();
      remote.commit("main", { "hello.txt": "hello\n" });
      work = workplace(() => api, (await api.project(remote.url)).project_id);
    });
    afterAll(async () => {
      await api?.stop();
      if (database && "url" in database) database.stop();
      remote?.remove();
      await model?.[Symbol.asyncDispose]();
    });

    /** One session for all: its sandbox and its runtime take seconds to start. */
    let id: string;

    // the first session of an engine builds its images
    test(
      "edits, pushes, opens a change request, resolves a conflict; a person merges",
      async () => {
        id = await changeThroughAgent(work, remote);
      },
      2 * TEST_LIMIT_MS,
    );

    test("an answer is complete although the server is killed and restarted during it", async () => {
      const { project_id } = await work.session(id);
      const home = makeHome();
      const chat = Bun.spawn([...SVC, "sessions", "chat", id, "--prompt", `!slow 250 ${WORDS.join(" ")}`], {
        cwd: home.cwd,
        env: cliEnv(home.home, {
          SVC_API_URL: `${api.url}/v1`,
          SVC_CLI_TOKEN: api.token,
          SVC_PROJECT_ID: project_id,
        }),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const errors = text(chat.stderr);
      const { begun, rest } = await readUntil(chat.stdout, "word2");
      expect(begun).not.toContain(WORDS.at(-1) ?? "");
      const { dataDir } = api;
      const server = allProcesses().find(
        ({ command, environment }) =>
          command.includes("svc-api") && environment.includes(`SVC_DATA_DIR=${dataDir}`),
      );
      killFound(server?.pid, "SIGKILL");
      await until("it has ended", () => allProcesses().every(({ pid }) => pid !== server?.pid));
      // at the same port: clients know the server by it
      api = await startApi({ env, dataDir });
      const stdout = begun + (await rest);
      expect([await chat.exited, await errors]).toEqual([0, expect.any(String)]);
      expect(stdout.trim().split(/\s+/)).toEqual(WORDS);
      expect(await work.call("DELETE", `/sessions/${id}`)).toMatchObject({ status: 200 });
    });
  });
}
