import { afterAll, beforeAll, describe, expect } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";
import { ROOT } from "../../scripts/binaries.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { signUserContext } from "../../src/contract/user-context.ts";
import { createLocalProvider, type LocalOptions } from "../../src/sandboxes/local/local.ts";
import { choosePorts } from "../../src/sandboxes/local/ports.ts";
import type { Provider, ProviderOptions, Sandbox } from "../../src/sandboxes/provider.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createRepository } from "../helpers/git-repo.ts";
import { BUBBLEWRAP, STRANGER } from "../helpers/isolation.ts";
import { type LocalSandboxes, localSandboxes } from "../helpers/local-sandboxes.ts";
import { needs } from "../helpers/needs.ts";
import { allProcesses, killFound } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import {
  type ApiStandIn,
  ask,
  compile,
  fetchFrom,
  health,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../helpers/sandbox-bench.ts";
import { standInPrograms, standInRuntime } from "../helpers/stand-in-programs.ts";
import { until, untilSteady } from "../helpers/until.ts";
import { conformance } from "./conformance.ts";

const LINUX = ["Linux", process.platform === "linux"] as const;
/** What a server says besides. */
const REST = { orphanS: 900 };
const SERVICE_KEY = "svc_sb_of_the_walls";
/** Moments at which a server is killed while it starts a sandbox, in milliseconds. */
const KILL_AFTER_MS = sample(2, [60, 90, 120, 160, 200, 300]);

for (const isolation of ["required", "none"] as const) {
  const isolates = isolation === "required";
  conformance({
    name: isolates ? "local, behind bubblewrap" : "local, not isolated",
    requires: isolates ? BUBBLEWRAP : LINUX,
    make: async (options) => createLocalProvider({ ...options, isolation, ...REST }),
    leftovers,
    isolates,
  });
}

/** The isolation for tests that do not depend on it. */
const ISOLATION = BUBBLEWRAP[1] ? "required" : "none";

describe("local sandboxes", () => {
  const test = needs(...LINUX);
  const walled = needs(...BUBBLEWRAP);
  const folder = mkdtempSync(join(tmpdir(), "svc-programs-"));
  const serverProgram = join(folder, "server");
  let api: ApiStandIn;
  let sandboxes: LocalSandboxes;

  beforeAll(async () => {
    chmodSync(folder, 0o755);
    await compile(join(import.meta.dir, "../helpers/dying-provider.ts"), serverProgram);
    api = startApiStandIn();
    sandboxes = localSandboxes(api, await standInPrograms(), { isolation: ISOLATION, ...REST });
  });

  afterAll(async () => {
    const left = await sandboxes.close();
    await api.stop();
    rmSync(folder, { recursive: true, force: true });
    expect(left).toEqual([]);
  });

  const make = (changes: Partial<LocalOptions> = {}) => sandboxes.make(changes);

  async function failureOf(changes: Partial<LocalOptions>, secrets: Record<string, string> = {}) {
    const { provider, options } = make(changes);
    const spec = specOf(secrets);
    const watch = watchOf();
    const error = await provider.start(spec, watch, AbortSignal.timeout(WAIT_LIMIT_MS)).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(await leftovers(options, spec.sessionId)).toEqual([]);
    expect(String(error)).not.toContain(options.dataDir);
    return { error, lines: watch.lines };
  }

  walled("every start logs the sandbox's isolation and limits", async () => {
    const said = async (isolation: LocalOptions["isolation"]) => {
      const { provider } = make({ isolation });
      const watch = watchOf();
      for (let times = 0; times < 2; times++)
        await provider.start(specOf(), watch, AbortSignal.timeout(WAIT_LIMIT_MS));
      return watch.lines;
    };
    const behind = await said("required");
    expect(behind.filter((line) => line.includes("isolated by bubblewrap"))).toHaveLength(2);
    expect(behind.filter((line) => line.includes("Limits: 256 processes, "))).toHaveLength(2);
    const open = await said("none");
    expect(open.filter((line) => line.includes("the agent is not isolated"))).toHaveLength(2);
    expect(
      open.filter((line) => line.includes("Not limited: processes, memory, processors, disk.")),
    ).toHaveLength(2);
  });

  walled("the runtime can neither see nor reach the daemon, and has no capabilities", async () => {
    const { provider } = make();
    const sandbox = await startSandbox(provider, specOf());
    const environment = await ask(sandbox, { do: "environment" });
    const asRuntime = async (script: string): Promise<string> => {
      const wrap = JSON.parse(environment["SVC_RUNTIME_WRAP"]);
      const clean = ["env", "-i", `PATH=${environment["PATH"]}`];
      const { out } = await ask(sandbox, { do: "run", command: [...clean, ...wrap, "sh", "-c", script] });
      return out;
    };
    // the daemon itself could
    const own = await ask(sandbox, {
      do: "run",
      command: ["sh", "-c", "grep -l SVC_TOKEN /proc/[0-9]*/environ"],
    });
    expect(own.out).toContain("/environ");
    expect(
      await asRuntime("grep -l SVC_TOKEN /proc/[0-9]*/environ; grep -la sandbox-agent /proc/[0-9]*/mem"),
    ).toBe("");
    const commands = await asRuntime("cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
    expect(commands).toStartWith("/opt/svc/bin/bwrap");
    expect(commands).not.toContain("svc-agent");
    // all that it may signal is its own
    expect(await asRuntime("kill -9 -1; for pid in $(seq 2 400); do kill -9 $pid; done 2>/dev/null")).toBe(
      "",
    );
    expect(await health(sandbox)).toBe(200);
    expect(await asRuntime("grep -E '^(CapEff|CapBnd|NoNewPrivs):' /proc/self/status")).toBe(
      "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n",
    );
    expect(await asRuntime("id -un; cd ~svc && pwd; ls -d /root/* /home/* /var/lib/* 2>/dev/null")).toBe(
      "svc\n/opt/svc/home\n",
    );
    // root in a namespace of its own takes nothing away that hides something, and opens nothing that is closed
    const dig = "umount -l /proc /workspace /tmp; mount -o remount,rw /usr; touch /usr/x; ls -d /proc/[0-9]*";
    const seen = await asRuntime(`unshare --map-root-user --mount sh -c '${dig}' 2>/dev/null`);
    const pids = seen
      .trim()
      .split("\n")
      .map((path) => Number(path.replace("/proc/", "")));
    expect(Math.max(...pids)).toBeLessThan(100);
    const places = [
      "/",
      "/bin",
      "/etc",
      "/usr/bin",
      "/opt/svc",
      "/opt/svc/bin",
      "/proc/sys/kernel",
      "/run",
      "/var",
    ];
    expect(await asRuntime(`for place in ${places.join(" ")}; do touch $place/x && echo $place; done`)).toBe(
      "",
    );
    expect(await asRuntime("cd /workspace && touch x ~svc/x /tmp/x && ls x ~svc/x /tmp/x | wc -l")).toBe(
      "3\n",
    );
  });

  walled("a volume outlives its sandbox, and the next one with it ends one that still has it", async () => {
    const { provider, options } = make();
    const volume = { id: crypto.randomUUID(), path: "/srv/deep/data" };
    const shell = async (sandbox: Sandbox, script: string) =>
      (await ask(sandbox, { do: "run", command: ["sh", "-c", script] })).out;
    const first = await startSandbox(provider, specOf({}, { volume }));
    expect((await ask(first, { do: "environment" }))["SVC_VOLUME"]).toBe(volume.path);
    expect(
      await shell(first, "echo one > /srv/deep/data/note && stat -c %u /srv/deep/data/note; id -u"),
    ).toBe("1000\n1000\n");
    const second = await startSandbox(provider, specOf({}, { volume: { ...volume, path: "/other" } }));
    expect(await provider.find(first.sessionId)).toBeNull();
    expect(await shell(second, "cat /other/note; ls /srv 2>/dev/null")).toBe("one\n");
    await provider.stop(second.sessionId, 0);
    expect(await provider.volumes?.measure(volume.id, Infinity)).toBe(4096);
    const folder = join(options.dataDir, "volumes", volume.id);
    expect(existsSync(folder)).toBe(true);
    await provider.volumes?.remove(volume.id);
    expect(existsSync(folder)).toBe(false);
  });

  walled("a sandbox over its limit of processes affects only itself", async () => {
    const { provider } = make();
    const limits = { cpus: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, processes: 100 };
    const [greedy, other] = await Promise.all([
      startSandbox(provider, specOf({}, { limits })),
      startSandbox(provider, specOf({}, { limits })),
    ]);
    const script = "for count in $(seq 300); do sleep 60 & done; wait";
    await ask(greedy, { do: "spawn", command: ["sh", "-c", script] });
    const mark = `SVC_SESSION_ID=${greedy.sessionId}`;
    const started = () => allProcesses().filter(({ environment }) => environment.includes(mark)).length;
    await untilSteady("it has as many as it may", () => started() > 50);
    expect(started()).toBeLessThan(110);
    expect((await ask(other, { do: "run", command: ["sh", "-c", "true | true | echo fine"] })).out).toBe(
      "fine\n",
    );
    await provider.stop(greedy.sessionId, 0);
  });

  test("detects another process on the daemon's port", async () => {
    const stranger = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => Response.json({ daemon: "ok", branch: crypto.randomUUID() }),
    });
    let tries = 0;
    const choose: typeof choosePorts = (taken) => {
      const ports = choosePorts(taken);
      tries++;
      return ports && tries <= 2 ? { ...ports, daemon: stranger.port ?? 0 } : ports;
    };
    const { provider } = make({ choosePorts: choose, isolation: "none" });
    const watch = watchOf();
    const sandbox = await provider.start(specOf(), watch, AbortSignal.timeout(WAIT_LIMIT_MS));
    await stranger.stop(true);
    expect(tries).toBe(3);
    expect(sandbox.address?.port).not.toBe(stranger.port);
    expect(await health(sandbox)).toBe(200);
    expect(watch.lines.filter((line) => line.includes("has taken the sandbox's port"))).toHaveLength(2);
  });

  test("never signals a reused pid", async () => {
    const { provider, options } = make();
    const bystander = Bun.spawn(["sleep", "60"]);
    const sessionId = crypto.randomUUID();
    const folder = join(options.dataDir, "sandboxes", sessionId);
    mkdirSync(folder);
    const state = { installation: options.installation, generation: 3, port: 20_001, runtimePort: 20_002 };
    writeFileSync(
      join(folder, "state.json"),
      JSON.stringify({ ...state, pid: bystander.pid, started: "boot 17" }),
    );
    writeFileSync(join(folder, "daemon"), `${bystander.pid}\n`);
    expect(await provider.find(sessionId)).toMatchObject({ state: "ended", generation: 3, exitCode: null });
    await provider.stop(sessionId, 1_000);
    expect(bystander.exitCode).toBeNull();
    bystander.kill("SIGKILL");
    expect(await bystander.exited).toBe(137);
    expect(await leftovers(options, sessionId)).toEqual([]);
  });

  test.each(["", "{", "[]", '{"pid": "1"}', `{"installation": 7, "pid": 1}`])(
    "the remains of a sandbox with the state %s are listed and can be stopped",
    async (text) => {
      const { provider, options } = make();
      const sessionId = crypto.randomUUID();
      const folder = join(options.dataDir, "sandboxes", sessionId);
      mkdirSync(join(folder, "workspace", "closed"), { recursive: true });
      writeFileSync(join(folder, "workspace", "closed", "file"), "");
      chmodSync(join(folder, "workspace", "closed"), 0);
      writeFileSync(join(folder, "state.json"), text);
      expect(await provider.list()).toMatchObject([
        { sessionId, generation: null, state: "ended", address: null },
      ]);
      await provider.stop(sessionId, 0);
      expect(existsSync(folder)).toBe(false);
    },
  );

  walled.each(["required", "none"] as const)(
    "a sandbox without the agent runtime starts if none is installed (isolation: %s)",
    async (isolation) => {
      const { provider } = make({ isolation, runtime: "/nowhere" });
      expect(startSandbox(provider, specOf())).rejects.toThrow("SVC_RUNTIME_BIN");
      const spec = specOf({}, { runtime: null });
      expect(await health(await startSandbox(provider, spec))).toBe(200);
      await provider.stop(spec.sessionId, 0);
    },
  );

  test("a sandbox has ended only once its last output is in the log", async () => {
    const { provider } = make({ isolation: "none" });
    const spec = specOf();
    const sandbox = await startSandbox(provider, spec);
    const pump = allProcesses().find(
      ({ command, environment }) =>
        command.startsWith("dd ") && environment.some((entry) => entry.includes(spec.sessionId)),
    );
    killFound(pump?.pid, "SIGSTOP");
    await ask(sandbox, { do: "print", base64: Buffer.from("last words\n").toString("base64") });
    await ask(sandbox, { do: "exit", code: 0 }).catch(() => {});
    setTimeout(() => killFound(pump?.pid, "SIGCONT"), 300);
    await until("it has ended", async () => (await provider.find(spec.sessionId))?.state === "ended");
    expect(Buffer.from(await provider.logs(spec.sessionId, 10_000)).toString()).toContain("last words");
    await provider.stop(spec.sessionId, 0);
  });

  test("limits the size of the log on the disk", async () => {
    const { provider, options } = make();
    const sandbox = await startSandbox(provider, specOf());
    const base64 = Buffer.alloc(4 * 1024 * 1024, "z").toString("base64");
    for (let count = 0; count < 10; count++) await ask(sandbox, { do: "print", base64 });
    await ask(sandbox, { do: "print", base64: Buffer.from("over").toString("base64") });
    await until("all is written", async () => (await ends(provider, sandbox)) === "over");
    const folder = join(options.dataDir, "sandboxes", sandbox.sessionId);
    const sizes = readdirSync(folder).filter((name) => name.startsWith("log"));
    const bytes = sizes.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(12 * 1024 * 1024);
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
  });

  test("reports what blocks a start, and leaves nothing", async () => {
    const large = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`LARGE_${index}`, "x".repeat(65_000)]),
    );
    expect((await failureOf({}, large)).error).toMatchObject({ name: "SandboxError", permanent: true });
    expect(String((await failureOf({}, { BAD: "a\0b" })).error)).toContain("BAD contains a NUL");
    const noRuntime = await failureOf({ runtime: "/nowhere/opencode" });
    expect(noRuntime.error).toMatchObject({ name: "SandboxError", permanent: true });
    expect(String(noRuntime.error)).toContain("SVC_RUNTIME_BIN");
    const empty = join(make().options.dataDir, "empty");
    mkdirSync(empty);
    expect((await failureOf({ binaries: empty })).error).toMatchObject({
      name: "SandboxError",
      permanent: true,
    });
    writeFileSync(join(empty, "svc-agent"), "#!/bin/sh\necho no more coffee\nexit 3\n", { mode: 0o755 });
    const file = join(empty, "file");
    writeFileSync(file, "");
    for (const isolation of ["required", "none"] as const) {
      const noFolder = createLocalProvider({ ...make().options, dataDir: file, isolation });
      const started = noFolder.start(specOf(), watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS));
      expect(await started.catch((error: unknown) => error)).toMatchObject({ name: "SandboxError" });
    }
    const ended = await failureOf({ binaries: empty });
    expect(String(ended.error)).toContain("exit code 3");
    expect(ended.lines).toContain("svc: svc-agent: no more coffee");
  });

  test("a graceful shutdown of the server leaves nothing running", async () => {
    const { provider, options } = make();
    const specs = [specOf(), specOf(), specOf()];
    const sandboxes = await Promise.all(specs.map((spec) => startSandbox(provider, spec)));
    await provider.close();
    for (const sandbox of sandboxes) {
      expect(api.visits).toContain(`/v1/asked-to-end/${sandbox.sessionId}`);
      expect(await leftovers(options, sandbox.sessionId)).toEqual([]);
    }
  });

  walled("svc-agent boots in an isolated sandbox, and ends on request", async () => {
    const { options } = make();
    const agent = process.env["SVC_TEST_AGENT"] ?? join(folder, "svc-agent");
    if (!existsSync(agent)) await compile(join(ROOT, "daemon/main.ts"), agent);
    const spec = specOf({ SVC_PROJECT_AUTO_CLONE: "1", STANDIN: "/opt/svc/home/standin" });
    const repository = await createRepository(join(options.dataDir, "git", `${spec.projectId}.git`));
    await repository.write([{ name: "first", branch: spec.sessionId, files: { "a.txt": "1\n" } }]);
    const auth = { type: "basic", username: "x-access-token", token: "svc_git_of_the_tests" };
    const agents = pack();
    agents.entry({ name: "agents/a.md" }, "Words.\n");
    agents.finalize();
    const tar = await buffer(agents);
    using git = serveGit(join(options.dataDir, "git"), ({ url }) => {
      if (url.endsWith("/agent-config")) return new Response(tar);
      return url.endsWith("/clone-credential")
        ? Response.json({ repo_url: url, auth, expires_at: null })
        : null;
    });
    const environment = (apiUrl: string) => ({
      ...spec.environment(apiUrl),
      SVC_REPO_URL: `${apiUrl}/${spec.projectId}.git`,
      SVC_TOKEN: SERVICE_KEY,
    });
    const real = createLocalProvider({
      ...options,
      binaries: dirname(agent),
      runtime: await standInRuntime(folder),
      apiUrl: git.origin,
    });
    const sandbox = await real.start({ ...spec, environment }, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS));
    const healthOf = async () => (await fetchFrom(sandbox, "/svc/health")).json();
    await until("the runtime answers", async () => (await healthOf()).runtime === "ok").catch(
      async (error: unknown) => {
        const log = Buffer.from(await real.logs(spec.sessionId, 10_000)).toString();
        throw new Error(`${error} ${JSON.stringify(await healthOf())} ${log}`);
      },
    );
    expect(await healthOf()).toMatchObject({ clone: "ok", branch: spec.sessionId });
    const now = Math.floor(Date.now() / 1000);
    const context = signUserContext(SERVICE_KEY, {
      ...{ user_id: "u", session_id: spec.sessionId, role: "user", scopes: [], iat: now, exp: now + 60 },
      ...{ method: "GET", path: "/standin" },
    });
    const shown = await (
      await fetchFrom(sandbox, "/standin", { headers: { "X-Svc-User-Context": context } })
    ).json();
    expect(shown).toMatchObject({ uid: 1000, pid: 2, cwd: "/workspace" });
    expect(JSON.stringify(shown.env)).not.toContain(SERVICE_KEY);
    expect(shown.env).toMatchObject({ HOME: "/opt/svc/home", SVC_SESSION_ID: spec.sessionId });
    const home = join(options.dataDir, "sandboxes", spec.sessionId);
    const files = readdirSync(home, { recursive: true, encoding: "utf8" });
    expect(files).toContainEqual(expect.stringMatching(/(?:^|\/)agentrt\/agents\/a\.md$/));
    expect(await real.find(spec.sessionId)).toEqual(sandbox);
    // a daemon that is not asked to end would live longer than a test may
    await real.stop(spec.sessionId, 3_600_000);
    expect(await leftovers(options, spec.sessionId)).toEqual([]);
  });

  const rootOnly = needs("root", BUBBLEWRAP[1] && process.getuid?.() === 0);
  describe.each(["the same user", "another user"])("a server of %s that is killed", (who) => {
    const test = who === "another user" ? rootOnly : walled;

    function startServer(options: LocalOptions, sessionId: string) {
      const user = who === "another user" ? STRANGER : (process.getuid?.() ?? 0);
      const folders = ["", "sandboxes", "o", "d"].map((name) => join(options.dataDir, name));
      for (const path of folders.filter((folder) => existsSync(folder))) chownSync(path, user, user);
      const given = { ...options, sessionId, port: api.address.port };
      return Bun.spawn([serverProgram, JSON.stringify(given)], {
        env: { PATH: process.env["PATH"] ?? "", HOME: options.dataDir },
        stdio: ["ignore", "pipe", "inherit"],
        ...(who === "another user" && { uid: user, gid: user }),
      });
    }

    test("leaves its sandbox running, and the next server finds it", async () => {
      const { provider, options } = make();
      const spec = specOf();
      const server = startServer(options, spec.sessionId);
      const [first] = await Array.fromAsync(takeOne(server.stdout));
      const { sandbox, lines } = JSON.parse(Buffer.from(first ?? []).toString());
      expect(lines.join("\n")).toContain("isolated by bubblewrap");
      server.kill("SIGKILL");
      await server.exited;
      expect(await provider.list()).toEqual([sandbox]);
      const base64 = Buffer.from("x\n".repeat(1_000_000)).toString("base64");
      for (let count = 0; count < 5; count++) await ask(sandbox, { do: "print", base64 });
      await until("it is written", async () => (await ends(provider, sandbox)) === "\nx\n");
      await provider.stop(spec.sessionId, 10_000);
      expect(api.visits).toContain(`/v1/asked-to-end/${spec.sessionId}`);
      expect(await leftovers(options, spec.sessionId)).toEqual([]);
    });

    test("during the start of a sandbox leaves nothing that the next server does not end", async () => {
      const { provider, options } = make();
      for (const moment of KILL_AFTER_MS) {
        const spec = specOf();
        const server = startServer(options, spec.sessionId);
        await Bun.sleep(moment);
        server.kill("SIGKILL");
        await server.exited;
        const listed = (await provider.list()).map(({ sessionId }) => sessionId);
        const left = await leftovers(options, spec.sessionId);
        if (left.length > 0) expect(listed).toContain(spec.sessionId);
        if (moment === KILL_AFTER_MS.at(-1)) {
          const again = await startSandbox(provider, { ...spec, generation: 2 });
          expect(await provider.list()).toContainEqual(again);
        }
        await provider.stop(spec.sessionId, 0);
        expect(await leftovers(options, spec.sessionId)).toEqual([]);
      }
    });
  });
});

/** Processes and files of a sandbox, found by its name alone. */
async function leftovers({ dataDir, installation }: ProviderOptions, sessionId: string): Promise<string[]> {
  const mark = `SVC_SANDBOX=${installation}/${sessionId}`;
  const folder = join(dataDir, "sandboxes", sessionId);
  return [
    ...allProcesses()
      .filter(({ environment, command }) => environment.includes(mark) || command.includes(folder))
      .map(({ pid, command }) => `${pid} ${command}`),
    ...(existsSync(folder) ? readdirSync(folder) : []),
  ];
}

async function ends(provider: Provider, { sessionId }: Sandbox): Promise<string> {
  return Buffer.from(await provider.logs(sessionId, 4))
    .toString()
    .slice(-4)
    .replace(/^x(?=\nx\n$)/, "");
}

async function* takeOne<T>(stream: AsyncIterable<T>): AsyncIterable<T> {
  for await (const part of stream) {
    yield part;
    return;
  }
}
