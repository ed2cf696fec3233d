import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { Wall } from "../../src/contract/session.ts";
import { createLocalProvider, type LocalOptions } from "../../src/sandboxes/local/local.ts";
import { type Machine, type Missing, remedyOf } from "../../src/sandboxes/local/remedy.ts";
import { BUBBLEWRAP } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { type ApiStandIn, optionsOf, specOf, startApiStandIn, watchOf } from "../helpers/sandbox-bench.ts";
import { standInPrograms } from "../helpers/stand-in-programs.ts";
import { until } from "../helpers/until.ts";

const onLinux = needs("Linux", process.platform === "linux");

let api: ApiStandIn;
let binaries: string;
const folders: string[] = [];

beforeAll(async () => {
  binaries = await standInPrograms();
  api = startApiStandIn();
});
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await api.stop();
});

/** A provider on a machine that has this script as bubblewrap, or none. */
function providerWith(script: string | null) {
  const folder = mkdtempSync(join(tmpdir(), "svc-tools-"));
  const bwrap = join(folder, "bwrap");
  const install = (text: string) => writeFileSync(bwrap, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  if (script !== null) install(script);
  const options: LocalOptions = {
    ...optionsOf(api, binaries),
    isolation: "required",
    orphanS: 900,
    findTools: () => (existsSync(bwrap) ? { bwrap, setpriv: null, prlimit: null } : { missing: "bwrap" }),
  };
  mkdirSync(join(options.dataDir, "sandboxes"));
  folders.push(folder, options.dataDir);
  return { provider: createLocalProvider(options), options, tools: folder, install };
}

async function failureOf(provider: ReturnType<typeof createLocalProvider>) {
  const watch = watchOf();
  const error: unknown = await provider
    .start(specOf(), watch, AbortSignal.timeout(WAIT_LIMIT_MS))
    .catch((thrown) => thrown);
  return { error, lines: watch.lines };
}

onLinux("the cleanup of sandboxes without a session ignores the trial of bubblewrap", async () => {
  const { provider, options, tools } = providerWith(
    'cd "$(dirname "$0")"; touch begun; until [ -e go ]; do sleep 0.02; done',
  );
  const walls = provider.walls();
  await until("bubblewrap is tried", async () => existsSync(join(tools, "begun")));
  // what the reconciler does with all that it finds and knows no session of
  for (const { sessionId } of await provider.list()) await provider.stop(sessionId, 0);
  expect(readdirSync(join(options.dataDir, "sandbox-trials"))).toHaveLength(1);
  writeFileSync(join(tools, "go"), "");
  expect(await walls).toContain("files");
  expect(readdirSync(join(options.dataDir, "sandbox-trials"))).toEqual([]);
});

onLinux("a trial that fails on a busy machine is repeated, and its outcome is shared", async () => {
  const count = 'cd "$(dirname "$0")"; echo x >>tries; [ "$(cat tries)" = "x\nx\nx" ]';
  const { provider, tools } = providerWith(count.replaceAll("\\n", "\n"));
  const walls = await Promise.all([provider.walls(), provider.walls()]);
  expect(walls[0]).toContain("files");
  await provider.walls();
  expect(await Bun.file(join(tools, "tries")).text()).toBe("x\nx\nx\n");
});

onLinux("no sandbox starts if bubblewrap does not work, and the error has the reason", async () => {
  const { provider, options } = providerWith(
    'echo "bwrap: No permissions to create a new namespace" >&2; exit 1',
  );
  const { error, lines } = await failureOf(provider);
  expect(error).toMatchObject({ name: "SandboxError" });
  expect(String(error)).toContain("(bwrap: No permissions to create a new namespace)");
  expect(lines).toEqual([]);
  expect(readdirSync(join(options.dataDir, "sandboxes"))).toEqual([]);
});

onLinux("no sandbox starts until bubblewrap is installed", async () => {
  const { provider, options, install } = providerWith(null);
  const { error } = await failureOf(provider);
  expect(error).toMatchObject({ name: "SandboxError", permanent: true });
  expect(String(error)).toContain("bubblewrap is not installed on the server's machine");
  expect(String(error)).toMatch(/Run there: \S.* bubblewrap$/);
  expect(String(error)).not.toContain(options.dataDir);
  install("exit 0");
  expect(await provider.walls()).toContain("files");
});

onLinux("the trial of a killed server is soon cleaned up", async () => {
  const { provider, options } = providerWith("exit 0");
  mkdirSync(join(options.dataDir, "sandbox-trials", crypto.randomUUID()), { recursive: true });
  await provider.walls();
  expect(readdirSync(join(options.dataDir, "sandbox-trials"))).toEqual([]);
});

needs(...BUBBLEWRAP)("each sandbox reports its isolation, also to the next server", async () => {
  const options = { ...optionsOf(api, binaries), orphanS: 900 };
  folders.push(options.dataDir);
  for (const isolation of ["required", "none"] as const) {
    const provider = createLocalProvider({ ...options, isolation, findCgroups: async () => null });
    const { sessionId, ...spec } = specOf();
    expect(provider.wallsOf(sessionId)).toBeNull();
    await provider.start({ sessionId, ...spec }, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS));
    const walls: Wall[] =
      isolation === "none"
        ? []
        : ["files", "processes", "user", "network", "syscalls", "process_limit", "memory_limit"];
    expect(provider.wallsOf(sessionId)).toEqual(walls);
    // the setting of the next server differs
    const next = createLocalProvider({ ...options, isolation: isolation === "none" ? "required" : "none" });
    await next.list();
    expect(next.wallsOf(sessionId)).toEqual(walls);
    await provider.stop(sessionId, 0);
    expect(provider.wallsOf(sessionId)).toBeNull();
  }
});

describe("the advice for missing isolation", () => {
  const machine = (programs: string[], settings: Record<string, string> = {}): Machine => ({
    has: (program) => programs.includes(program),
    setting: (name) => settings[name] ?? "",
  });
  const refused: Missing = { kind: "refused", reason: "bwrap: no" };

  test.each<[string, Missing, Machine, string]>([
    ["Debian", { kind: "program", program: "bwrap" }, machine(["apt-get"]), "apt-get install -y bubblewrap"],
    ["Fedora", { kind: "program", program: "bwrap" }, machine(["dnf"]), "dnf install -y bubblewrap"],
    ["Alpine", { kind: "program", program: "setpriv" }, machine(["apk"]), "apk add util-linux"],
    ["another system", { kind: "program", program: "bwrap" }, machine([]), "apt-get install -y bubblewrap"],
    [
      "Ubuntu's restriction",
      refused,
      machine([], { "kernel/apparmor_restrict_unprivileged_userns": "1" }),
      "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ],
    [
      "Debian's restriction",
      refused,
      machine([], { "kernel/unprivileged_userns_clone": "0" }),
      "sysctl -w kernel.unprivileged_userns_clone=1",
    ],
    [
      "no namespaces",
      refused,
      machine([], { "user/max_user_namespaces": "0" }),
      "sysctl -w user.max_user_namespaces=15000",
    ],
    ["an unknown reason", refused, machine([]), "SVC_SANDBOX_PROVIDER=docker"],
    ["macOS", { kind: "platform" }, machine([]), "SVC_SANDBOX_PROVIDER=docker"],
  ])("names the command on %s", (_, missing, on, command) => {
    expect(remedyOf(missing, on).remedy).toContain(command);
  });
});
