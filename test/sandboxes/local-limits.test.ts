import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { cgroupCandidates, cgroupsNamed, findCgroups, settingsOf } from "../../src/sandboxes/local/cgroup.ts";
import { createLocalProvider, type LocalOptions } from "../../src/sandboxes/local/local.ts";
import type { Provider, SandboxLimits } from "../../src/sandboxes/provider.ts";
import { BUBBLEWRAP, STRANGER } from "../helpers/isolation.ts";
import { type LocalSandboxes, localSandboxes } from "../helpers/local-sandboxes.ts";
import { needs } from "../helpers/needs.ts";
import {
  type ApiStandIn,
  ask,
  health,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../helpers/sandbox-bench.ts";
import { standInPrograms } from "../helpers/stand-in-programs.ts";
import { until } from "../helpers/until.ts";

const MIB = 1024 ** 2;
const LIMITS: SandboxLimits = { cpus: 0.5, memoryBytes: 400 * MIB, diskBytes: 1024 ** 3, processes: 100 };
const KILLED = 137;
/** Keeps in memory what it reads, without end. */
const GREEDY = ["tail", "/dev/zero"];

const cgroups = await findCgroups();
/** For tests of what the kernel enforces: a name and whether it is here, as for `needs`. */
const CGROUPS: readonly [string, boolean] =
  cgroups === null ? ["control groups that this user can create", false] : BUBBLEWRAP;

let api: ApiStandIn;
let binaries: string;
let sandboxes: LocalSandboxes;

beforeAll(async () => {
  binaries = await standInPrograms();
  api = startApiStandIn();
  sandboxes = localSandboxes(api, binaries, { isolation: "required", orphanS: 900 });
});
afterAll(async () => {
  expect(await sandboxes.close()).toEqual([]);
  await api.stop();
});

const WAYS = [
  ["enforced by the kernel", CGROUPS, {}],
  ["polled", BUBBLEWRAP, { findCgroups: async () => null }],
] as const;

describe.each(WAYS)("the memory limit of a local sandbox, %s", (_way, [what, isHere], changes) => {
  const walled = needs(what, isHere);

  walled("kills the process that exceeds it, and no other", async () => {
    const { provider } = sandboxes.make(changes);
    const spec = specOf({}, { limits: LIMITS });
    const sandbox = await startSandbox(provider, spec);
    expect(provider.wallsOf(spec.sessionId)).toContain("memory_limit");
    expect(await ask(sandbox, { do: "run", command: GREEDY })).toMatchObject({ code: KILLED });
    expect(await health(sandbox)).toBe(200);
    expect(Buffer.from(await provider.logs(spec.sessionId, 10_000)).toString()).toContain(
      "1 process was killed because the sandbox exceeded its memory limit\n",
    );
  });

  walled("counts files in /dev/shm", async () => {
    const { provider } = sandboxes.make(changes);
    const sandbox = await startSandbox(provider, specOf({}, { limits: LIMITS }));
    await ask(sandbox, { do: "spawn", command: ["sh", "-c", "head -c 600M /dev/zero >/dev/shm/large"] });
    await until("something was killed", async () => (await kills(provider)) > 0);
  });

  walled("ends the sandbox with that reason if the daemon exceeds it", async () => {
    const { provider } = sandboxes.make(changes);
    const spec = specOf({}, { limits: LIMITS });
    const sandbox = await startSandbox(provider, spec);
    await ask(sandbox, { do: "eat memory" });
    const find = () => provider.find(spec.sessionId);
    await until("it has ended", async () => (await find())?.state === "ended");
    expect(await find()).toMatchObject({ exitCode: KILLED, outOfMemory: true });
  });
});

describe("the control groups of a local sandbox", () => {
  const walled = needs(...CGROUPS);

  walled("have its limits, contain its processes, and are removed with it", async () => {
    const { provider, options } = sandboxes.make();
    const spec = specOf({}, { limits: LIMITS });
    const watch = watchOf();
    await provider.start(spec, watch, AbortSignal.timeout(WAIT_LIMIT_MS));
    const folders = groupsOf(options, spec.sessionId);
    // the supervisor, the pump, bubblewrap and the daemon
    for (const folder of folders) expect(linesOf(join(folder, "cgroup.procs")).length).toBeGreaterThan(3);
    const version = cgroups?.version ?? 1;
    const settings = (["memory", "pids", "cpu"] as const).flatMap((each) =>
      settingsOf(version, each, LIMITS),
    );
    for (const [file, value, optional] of settings) {
      const values = folders.flatMap((folder) => linesOf(join(folder, file)));
      if (!(optional && values.length === 0)) expect(values).toEqual([String(value)]);
    }
    expect(watch.lines).toContain("svc: Limits: 100 processes, 0.4 GiB of memory, 0.5 processors.");
    expect(watch.lines).toContain("svc: Not limited: disk.");
    expect(provider.wallsOf(spec.sessionId)).toEqual(expect.arrayContaining(["process_limit", "cpu_limit"]));
    await provider.stop(spec.sessionId, 0);
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
  });

  walled("throttle its CPU", async () => {
    const { provider, options } = sandboxes.make();
    const spec = specOf({}, { limits: LIMITS });
    const sandbox = await startSandbox(provider, spec);
    await ask(sandbox, { do: "spawn", command: ["sh", "-c", "while :; do :; done"] });
    const folders = groupsOf(options, spec.sessionId);
    const throttled = () =>
      folders.some((folder) => /^nr_throttled [1-9]/m.test(textOf(join(folder, "cpu.stat"))));
    await until("it is throttled", async () => throttled());
  });

  walled("of a killed server are removed by the next one", async () => {
    const { provider, options } = sandboxes.make();
    const spec = specOf({}, { limits: LIMITS });
    await provider.start(spec, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS));
    const next = createLocalProvider({ ...options, findCgroups: async () => null });
    await next.stop(spec.sessionId, 0);
    expect(groupsOf(options, spec.sessionId).filter((folder) => existsSync(folder))).toEqual([]);
  });
});

needs(...BUBBLEWRAP)("logs that memory is polled, and what has no limit", async () => {
  const { provider } = sandboxes.make({ findCgroups: async () => null });
  const watch = watchOf();
  await provider.start(specOf({}, { limits: LIMITS }), watch, AbortSignal.timeout(WAIT_LIMIT_MS));
  expect(watch.lines.join("\n")).toMatch(/Limits: .*0.4 GiB of memory\./);
  expect(watch.lines).toContain("svc: Not limited: processors, disk.");
  expect(watch.lines.join("\n")).toContain("Memory is checked every 2 seconds");
});

function groupsOf({ installation }: LocalOptions, sessionId: string): string[] {
  const folders = cgroups === null ? [] : cgroupsNamed(cgroups, `svc-${installation}-${sessionId}`);
  expect(folders).not.toEqual([]);
  return folders;
}

describe("where control groups can be created", () => {
  const ALL = "cpuset cpu io memory pids";
  /** A tree of version 2: the controllers that each group delegates. */
  function tree(groups: Record<string, string>): string {
    const root = mkdtempSync(join(tmpdir(), "svc-cgroups-"));
    writeFileSync(join(root, "cgroup.controllers"), `${ALL}\n`);
    for (const [path, given] of Object.entries(groups)) {
      mkdirSync(join(root, path), { recursive: true });
      writeFileSync(join(root, path, "cgroup.subtree_control"), `${given}\n`);
    }
    return root;
  }
  const ROOT_USER = 0;
  const parentsOf = async (root: string, own: string, user: number) =>
    (await cgroupCandidates(root, own, user)).map(({ version, parents }) => ({
      version,
      parents: Object.fromEntries(
        Object.entries(parents).map(([controller, path]) => [controller, path.slice(root.length) || "/"]),
      ),
    }));

  test("version 2: in the nearest group that delegates its controllers, and those above it", async () => {
    const root = tree({
      "": ALL,
      "user.slice": "cpu memory pids",
      "user.slice/app.slice": "memory pids",
      "user.slice/app.slice/terminal.scope": "",
    });
    try {
      expect(await parentsOf(root, "0::/user.slice/app.slice/terminal.scope\n", ROOT_USER)).toEqual([
        { version: 2, parents: { memory: "/user.slice/app.slice", pids: "/user.slice/app.slice" } },
        { version: 2, parents: { memory: "/user.slice", pids: "/user.slice", cpu: "/user.slice" } },
        { version: 2, parents: { memory: "/", pids: "/", cpu: "/" } },
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test("version 2: delegates controllers in a group that the server's user owns", async () => {
    const root = tree({ "": "cpu", "svc.service": "", "svc.service/server": "" });
    try {
      const user = process.getuid?.() || STRANGER;
      if (process.getuid?.() === 0)
        for (const path of ["svc.service", "svc.service/cgroup.subtree_control"])
          chownSync(join(root, path), user, user);
      await cgroupCandidates(root, "0::/svc.service/server\n", user);
      expect(textOf(join(root, "svc.service/cgroup.subtree_control"))).toBe("+memory +pids +cpu");
      // root's own groups stay as they are
      if (process.getuid?.() === 0) expect(textOf(join(root, "cgroup.subtree_control"))).toBe("cpu\n");
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test.each([
    ["no group delegates memory", { "": "cpu pids", a: "cpu" }, "0::/a\n"],
    ["the kernel does not say where this process is", { "": ALL }, ""],
    ["the process is in version 1 alone", { "": ALL }, "4:memory:/a\n"],
  ])("version 2: nowhere, where %s", async (_, groups, own) => {
    const root = tree(groups);
    try {
      expect(await parentsOf(root, own, ROOT_USER)).toEqual([]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test("version 1: in the process's own group of each hierarchy, wherever that is", async () => {
    const own = "9:name=systemd:/x\n4:memory:/work/a\n3:cpu,cpuacct:/b\n8:pids:/\n0::/\n";
    expect(await parentsOf("/nowhere", own, ROOT_USER)).toEqual([
      { version: 1, parents: { memory: "/memory/work/a", cpu: "/cpu/b", pids: "/pids" } },
    ]);
    expect(await parentsOf("/nowhere", "8:pids:/\n", ROOT_USER)).toEqual([]);
  });

  test.each([
    [1, "memory", { "memory.limit_in_bytes": 400 * MIB, "memory.memsw.limit_in_bytes": 400 * MIB }],
    [1, "pids", { "pids.max": 100 }],
    [1, "cpu", { "cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 50_000 }],
    [2, "memory", { "memory.max": 400 * MIB, "memory.swap.max": 0 }],
    [2, "pids", { "pids.max": 100 }],
    [2, "cpu", { "cpu.max": "50000 100000" }],
  ] as const)("version %d: the limits of %s", (version, controller, files) => {
    const settings = settingsOf(version, controller, LIMITS);
    expect(Object.fromEntries(settings.map(([file, value]) => [file, value]))).toEqual({ ...files });
  });
});

async function kills(provider: Provider): Promise<number> {
  const logs = await Promise.all(
    (await provider.list()).map(async ({ sessionId }) =>
      Buffer.from(await provider.logs(sessionId, 10_000)).toString(),
    ),
  );
  return logs.filter((log) => log.includes("exceeded its memory limit")).length;
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function linesOf(path: string): string[] {
  return textOf(path)
    .split("\n")
    .filter((line) => line !== "");
}
