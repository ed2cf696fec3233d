import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, svc } from "../../helpers/cli-run.ts";

const SETTINGS = "SVC_APP_CAP=3\nSVC_SELF_HOST_DB_PORT=5433\nPOSTGRES_PASSWORD=pw\n";

/** A server on Docker Compose; `docker` is a script that records its arguments and variables, and lets svc-api answer. */
function inContainers(answer: string) {
  const home = makeHome();
  const [dir, programs] = [join(home.home, "sh"), join(home.home, "programs")];
  for (const folder of [dir, programs]) mkdirSync(folder);
  writeFileSync(join(dir, "state.json"), '{"mode": "compose"}');
  writeFileSync(join(dir, "env"), SETTINGS);
  const docker = join(programs, "docker");
  writeFileSync(
    docker,
    `#!/bin/sh
case "$*" in *"config check"*) printf '%s\\n' "$@" >'${home.home}/arguments'; env >'${home.home}/variables'; ${answer} ;; esac
`,
  );
  chmodSync(docker, 0o755);
  return {
    set: (...pairs: string[]) =>
      svc(["self-host", "env", "set", ...pairs], {
        home,
        env: { SVC_SELF_HOST_DIR: dir, PATH: `${programs}:${process.env["PATH"]}` },
      }),
    env: () => readFileSync(join(dir, "env"), "utf8"),
    arguments: () => readFileSync(join(home.home, "arguments"), "utf8").split("\n"),
    variables: () => readFileSync(join(home.home, "variables"), "utf8").split("\n"),
  };
}

test("a server in containers checks settings in a container of its own, with no value in the command line", async () => {
  const server = inContainers("exit 0");
  const ran = await server.set("SVC_LLM_API_KEY=sk-1", "SVC_LLM_BASE_URL=https://m/v1", "SVC_APP_CAP=");
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stderr).not.toContain("checked");
  const line = server.arguments();
  expect(line.slice(line.indexOf("run"))).toEqual([
    ..."run --rm --no-deps -T -e SVC_LLM_API_KEY -e SVC_LLM_BASE_URL -e SVC_APP_CAP api svc-api config check".split(
      " ",
    ),
    "",
  ]);
  expect(server.variables()).toEqual(
    expect.arrayContaining(["SVC_LLM_API_KEY=sk-1", "SVC_LLM_BASE_URL=https://m/v1", "SVC_APP_CAP="]),
  );
  expect(server.env()).toContain("SVC_LLM_API_KEY=sk-1\n");
});

test("a server in containers refuses what svc-api refuses there", async () => {
  const server = inContainers(
    "echo 'Creating a container' >&2; echo 'svc-api: SVC_SANDBOX_ISOLATION=none is refused for root.' >&2; exit 1",
  );
  expect(await server.set("SVC_SANDBOX_ISOLATION=none")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("SVC_SANDBOX_ISOLATION=none is refused for root."),
  });
  expect(server.env()).toBe(SETTINGS);
});

test("settings are stored unchecked if Compose cannot start a container", async () => {
  const server = inContainers("echo 'no such image' >&2; exit 1");
  expect(await server.set("SVC_APP_CAP=5")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("could not be checked"),
  });
  expect(server.env()).toContain("SVC_APP_CAP=5\n");
});
