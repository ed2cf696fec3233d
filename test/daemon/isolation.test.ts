import { expect } from "bun:test";
import { chmodSync, cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { needs } from "../helpers/needs.ts";
import { allProcesses } from "../helpers/processes.ts";
import { AGENT, CLONE_TOKEN, SERVICE_KEY, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const ROOT = process.getuid?.() === 0;
const test = needs("root, to start processes as other users", ROOT);
/** Nobody's: no account of the machine needs to have it. */
const OTHER = { uid: 48_123, gid: 48_124 };

/** Runs a command as the other user, and returns its output. */
async function asOther(argv: string[]): Promise<string> {
  const child = Bun.spawn(argv, { ...OTHER, stdout: "pipe", stderr: "pipe", cwd: "/" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return out + err;
}

test("the runtime and git in the workspace run as the sandbox's user, who cannot inspect the daemon", async () => {
  await using sandbox = await startSandbox({ env: { SVC_RUNTIME_USER: `${OTHER.uid}:${OTHER.gid}` } });
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  const runtime = await (await sandbox.call("GET", "/standin")).json();
  expect(runtime).toMatchObject(OTHER);
  expect(await asOther(["sh", "-c", `grep Groups /proc/${runtime.pid}/status`])).toMatch(
    new RegExp(`^Groups:\\s+(?:${OTHER.gid})?\\s*$`),
  );
  for (const path of [
    sandbox.workspace,
    sandbox.home,
    join(sandbox.workspace, ".git/HEAD"),
    join(sandbox.workspace, "a.txt"),
  ])
    expect([path, statSync(path).uid]).toEqual([path, OTHER.uid]);
  const { pid } = sandbox.child;
  for (const file of ["environ", "mem", "maps", "fd"]) {
    const said = await asOther([
      "sh",
      "-c",
      `head -c 100000 /proc/${pid}/${file} || ls /proc/${pid}/${file}/`,
    ]);
    expect(said).toContain("Permission denied");
    expect(said).not.toContain(SERVICE_KEY);
  }
  expect((await sandbox.call("POST", "/svc/refresh", "platform")).status).toBe(200);
  await sandbox.untilHealth("it works", ({ runtime: state, commit }) => state === "ok" && commit !== null);
});

test("other processes of the same user cannot inspect the daemon", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-other-"));
  chmodSync(folder, 0o755);
  // the developer's folders may be closed to others
  const [program = "", ...rest] = AGENT;
  const copy = join(folder, basename(program));
  cpSync(program, copy, { dereference: true });
  const source = rest.length > 0 ? await bundle(folder) : [];
  const before = ["setpriv", `--reuid=${OTHER.uid}`, `--regid=${OTHER.gid}`, "--clear-groups"];
  await using sandbox = await startSandbox({
    before,
    command: [copy, ...source],
    owner: OTHER,
    env: { SVC_RUNTIME_BIN: "/nonexistent" },
  });
  await sandbox.untilHealth("it is cloned", ({ clone }) => clone === "ok");
  const { pid } = sandbox.child;
  expect(await asOther(["sh", "-c", `cat /proc/${pid}/status | grep ^Uid`])).toContain(String(OTHER.uid));
  for (const file of ["environ", "mem"])
    expect(await asOther(["head", "-c", "100000", `/proc/${pid}/${file}`])).toContain("Permission denied");
  rmSync(folder, { recursive: true, force: true });
});

/** The daemon's source as one file that anybody may read. */
async function bundle(folder: string): Promise<string[]> {
  const file = join(folder, "daemon.js");
  // an optional part of ssh2
  const external = ["cpu-features"];
  const built = await Bun.build({ entrypoints: ["daemon/main.ts"], target: "bun", external });
  await Bun.write(file, built.outputs[0] ?? "");
  return [file];
}

test("SVC_RUNTIME_WRAP wraps the runtime, and git in the workspace", async () => {
  await using sandbox = await startSandbox({
    env: { SVC_RUNTIME_WRAP: JSON.stringify(["env", "WRAPPED=yes"]) },
  });
  await sandbox.untilHealth("it works", ({ runtime, commit }) => runtime === "ok" && commit !== null);
  expect((await (await sandbox.call("GET", "/standin")).json()).env).toMatchObject({ WRAPPED: "yes" });
});

const walled = needs(
  "bubblewrap (bwrap)",
  Bun.which("bwrap") !== null &&
    Bun.spawnSync(["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "true"]).exitCode === 0,
);

walled("a runtime in namespaces is restarted and ended with all its processes", async () => {
  const wrap = ["bwrap", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--"];
  await using sandbox = await startSandbox({
    env: { SVC_RUNTIME_WRAP: JSON.stringify(wrap) },
    behaviour: { children: true },
  });
  const mine = () =>
    allProcesses().filter(({ environment }) => environment.includes(`SVC_SESSION_ID=${sandbox.sessionId}`));
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  await until(
    "its children run",
    () => mine().filter(({ command }) => command.startsWith("sleep")).length === 3,
  );
  const { body } = await sandbox.call("POST", "/svc/env", "platform", { revision: "2", env: { A: "1" } });
  await body?.cancel();
  await sandbox.untilHealth("it works again", ({ runtime }) => runtime === "ok");
  expect((await (await sandbox.call("GET", "/standin")).json()).env).toMatchObject({ A: "1" });
  expect(
    mine().filter(
      ({ environment }) =>
        !environment.includes("A=1") && !environment.some((line) => line.startsWith("SVC_TOKEN=")),
    ),
  ).toEqual([]);
  sandbox.child.kill("SIGTERM");
  await sandbox.child.exited;
  expect(mine()).toEqual([]);
});

test("work is saved as the sandbox's user, whose processes cannot read the credential of the ref", async () => {
  await using sandbox = await startSandbox({ env: { SVC_RUNTIME_USER: `${OTHER.uid}:${OTHER.gid}` } });
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  const { workspace, repository, sessionId } = sandbox;
  const seen = join(sandbox.home, "seen");
  // a filter is a program of the agent's that git runs
  await asOther([
    "git",
    "-C",
    workspace,
    "config",
    "filter.spy.clean",
    `env >>${seen}; cat /proc/$PPID/environ >>${seen}; cat`,
  ]);
  await asOther([
    "sh",
    "-c",
    `cd ${workspace} && echo '*.spy filter=spy' >.gitattributes && echo x >new.spy`,
  ]);
  sandbox.child.kill("SIGTERM");
  expect(await sandbox.child.exited).toBe(0);
  const ref = `refs/svc/saved/${sessionId}`;
  expect(await repository.git("ls-tree", "-r", "--name-only", ref)).toBe(".gitattributes\na.txt\nnew.spy");
  expect(statSync(seen).uid).toBe(OTHER.uid);
  const words = await Bun.file(seen).text();
  for (const secret of [SERVICE_KEY, CLONE_TOKEN, "Authorization"]) expect(words).not.toContain(secret);
  const asked = sandbox.api.requests.filter(({ path }) => path.endsWith("/git/clone-credential"));
  expect(asked.length).toBeGreaterThan(1);
});
