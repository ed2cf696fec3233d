import { afterAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeApi, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, spawnSvc, svc, svcProcess, textOf } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

/** A folder with programs, which is on the PATH of `env`. */
function programs(scripts: Record<string, string>) {
  const home = makeHome();
  const folder = join(home.home, "bin");
  mkdirSync(folder);
  const write = (into: string, name: string, script: string) => {
    writeFileSync(join(into, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(into, name), 0o755);
  };
  for (const [name, script] of Object.entries(scripts)) write(folder, name, script);
  const path = process.env["PATH"] ?? "";
  const env = { ...api.env, PATH: `${folder}:${path}` };
  return { home, folder, path, env, write, run: (...line: string[]) => svc(line, { home, env }) };
}

test("an unknown command runs the program of this name, with its words and its exit code", async () => {
  const { home, env } = programs({ "svc-foo": `printf '%s|' "$@"; cat; echo no >&2; exit 7` });
  const ran = await svcProcess(["foo", "a b", "--json", "--", "-x", "$(id)"], { home, env, stdin: "in" });
  expect(ran).toEqual({ code: 7, signal: null, stdout: "a b|--json|--|-x|$(id)|in", stderr: "no\n" });
});

test("it gets the environment without tokens", async () => {
  const { home, env } = programs({ "svc-foo": "env" });
  const tokens = { SVC_CLI_TOKEN: TOKEN, SVC_EXECUTOR_TOKEN: TOKEN, SVC_TOKEN: TOKEN, BUN_OPTIONS: "" };
  const { code, stdout } = await svc(["foo"], { home, env: { ...env, ...tokens } });
  expect(code).toBe(0);
  expect(stdout).not.toContain(TOKEN);
  expect(stdout).not.toContain("BUN_OPTIONS");
  expect(stdout).toContain(`SVC_API_URL=${api.url}\n`);
});

test("a command, an alias and svc's own programs come first", async () => {
  const names = ["cr", "pr", "diff", "help", "mine", "api", "agent", "entrypoint", "agent-musl", "status"];
  const all = programs(Object.fromEntries(names.map((name) => [`svc-${name}`, "echo EXTENSION"])));
  mkdirSync(join(all.home.home, ".config/svc"), { recursive: true });
  writeFileSync(all.home.config, JSON.stringify({ aliases: { mine: "version" } }));
  for (const name of names) {
    const ran = await all.run(name);
    expect([name, ran.stdout.includes("EXTENSION")]).toEqual([name, false]);
  }
});

test("it is never one of the current folder, of a relative folder, or of another path", async () => {
  const { home, write, path } = programs({});
  mkdirSync(join(home.cwd, "sub"));
  write(home.cwd, "svc-foo", "echo EXTENSION");
  write(join(home.cwd, "sub"), "svc-foo", "echo EXTENSION");
  // as a process, whose current folder is the one that it searches
  const paths = [".:", ":", "", "sub:", "./sub:", "../work:"].map((more) => `${more}${path}`);
  for (const PATH of [...paths, ".", ""]) {
    const ran = await svcProcess(["foo"], { home, env: { ...api.env, PATH } });
    expect([PATH, ran.code, ran.stdout]).toEqual([PATH, 2, ""]);
  }
  mkdirSync(join(home.cwd, "svc-x"));
  write(join(home.cwd, "svc-x"), "foo", "echo EXTENSION");
  const named = await svcProcess(["x/foo"], { home, env: { ...api.env, PATH: path } });
  expect([named.code, named.stdout]).toEqual([2, ""]);
});

test("one that cannot be started, or ends by a signal, is a failure", async () => {
  const { run, write, folder } = programs({ "svc-foo": "kill -TERM $$" });
  expect((await run("foo")).code).toBe(128 + 15);
  write(folder, "svc-bar", "");
  writeFileSync(join(folder, "svc-bar"), "#!/no/such/interpreter\n");
  expect(await run("bar")).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be started") });
});

test("SIGTERM ends the extension, whose exit code is svc's", async () => {
  const { home, env } = programs({
    "svc-foo": "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done",
  });
  const child = spawnSvc(["foo"], { home, env });
  const reader = child.stdout.getReader();
  await reader.read();
  child.kill("SIGTERM");
  expect(await child.exited).toBe(5);
  expect(await textOf(child.stderr)).toBe("");
});

test("in a sandbox there are no extensions", async () => {
  const { home, env } = programs({ "svc-foo": "echo EXTENSION" });
  const ran = await svc(["foo"], { home, env: { ...env, SVC_SESSION_ID: SESSION_ID } });
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
});
