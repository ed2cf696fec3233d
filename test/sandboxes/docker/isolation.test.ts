import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import type { TCPSocketListener } from "bun";
import { WAIT_LIMIT_MS } from "../../../scripts/test/limit.ts";
import { createDockerProvider } from "../../../src/sandboxes/docker/docker.ts";
import type { Provider, ProviderOptions, Sandbox, SandboxSpec } from "../../../src/sandboxes/provider.ts";
import { DOCKER, docker, runInContainer } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { makeNeighbour, type Neighbour } from "../../helpers/neighbour.ts";
import {
  type ApiStandIn,
  ask,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../../helpers/sandbox-bench.ts";
import { standInPrograms } from "../../helpers/stand-in-programs.ts";
import { until } from "../../helpers/until.ts";

/** Neighbours are network namespaces of this machine, so the engine has to be on it, and this process root. */
const isHere = DOCKER[1] && process.getuid?.() === 0 && Bun.which("ip") !== null;
const test = needs(DOCKER[0], isHere);

describe("a sandbox in Docker", () => {
  let binaries: string;
  let api: ApiStandIn;
  let options: ProviderOptions;
  let provider: Provider;
  let spec: SandboxSpec;
  let sandbox: Sandbox;
  let gateway: string;
  let neighbours: { metadata: Neighbour; lan: Neighbour; internet: Neighbour };
  /** Listens on every address of this machine, as a database might. */
  let database: TCPSocketListener;

  beforeAll(async () => {
    if (!isHere) return;
    neighbours = {
      metadata: await makeNeighbour("169.254.77.77"),
      lan: await makeNeighbour("10.77.77.77"),
      internet: await makeNeighbour("25.77.77.77"),
    };
    database = Bun.listen({ hostname: "0.0.0.0", port: 0, socket: { data() {} } });
    binaries = await standInPrograms();
    api = startApiStandIn();
    options = optionsOf(api, binaries);
    provider = createDockerProvider(options);
    spec = specOf();
    sandbox = await startSandbox(provider, spec);
    gateway = new URL((await ask(sandbox, { do: "environment" }))["SVC_API_URL"]).hostname;
  });

  afterAll(async () => {
    for (const { sessionId } of (await provider?.list()) ?? []) await provider.stop(sessionId, 0);
    await provider?.close();
    await api?.stop();
    database?.stop(true);
    for (const neighbour of Object.values(neighbours ?? {})) neighbour.remove();
    if (options) rmSync(options.dataDir, { recursive: true, force: true });
  });

  const connect = (host: string, port: number): Promise<string> =>
    ask(sandbox, { do: "connect", host, port });

  test("reaches the internet, and neither the metadata address, the LAN, this machine's services, nor another sandbox", async () => {
    const other = await startSandbox(provider, specOf());
    const { metadata, lan, internet } = neighbours;
    const forbidden: [string, string, number][] = [
      ["a metadata service", metadata.address, metadata.port],
      ["a host of the LAN", lan.address, lan.port],
      ["this machine by its network's gateway", gateway, database.port],
      ["this machine by its address in the LAN", lan.ours, database.port],
      ["this machine by its public address", internet.ours, database.port],
      ["this machine by another network's gateway", "172.17.0.1", database.port],
      ["the API itself", gateway, api.address.port],
    ];
    // a container outside the namespace reaches the test server: only the rules keep sandboxes away
    for (const [, host, port] of forbidden.slice(0, 2).concat(forbidden.slice(3, 6))) {
      expect([host, await runInContainer(`exec 3<>/dev/tcp/${host}/${port} && echo connected`)]).toEqual([
        host,
        "connected\n",
      ]);
    }
    for (const [what, host, port] of forbidden) {
      expect([what, await connect(host, port)]).toEqual([what, "refused"]);
    }
    expect(await connect(other.address?.hostname ?? "", 8000)).toBe("refused");
    expect(await connect(internet.address, internet.port)).toBe("connected");
  });

  test("reaches only paths below /v1/ of the API", async () => {
    const { SVC_API_URL } = await ask(sandbox, { do: "environment" });
    const base = SVC_API_URL.replace(/\/v1$/, "");
    const visit = (path: string): Promise<string> => ask(sandbox, { do: "visit", url: `${base}${path}` });
    expect(await visit("/v1/x?y=/../z")).toBe("200 the API of the tests");
    for (const path of ["/", "/metrics", "/v1", "/v1x/", "/v1/../metrics", "/v1/%2e%2e/metrics"]) {
      expect([path, await visit(path)]).toEqual([path, expect.stringMatching(/^404 /)]);
    }
    expect(api.visits.filter((path) => !path.startsWith("/v1/"))).toEqual([]);
  });

  test("reaches the API again after a restart of the server", async () => {
    const { SVC_API_URL } = await ask(sandbox, { do: "environment" });
    const visit = (): Promise<string> => ask(sandbox, { do: "visit", url: `${SVC_API_URL}/x` });
    await provider.close();
    expect(await visit()).not.toStartWith("200");
    provider = createDockerProvider(options);
    await provider.list();
    expect(await visit()).toBe("200 the API of the tests");
    // a second server on the same machine leaves the listener to the first
    const second = createDockerProvider(options);
    await second.list();
    await second.close();
    expect(await visit()).toBe("200 the API of the tests");
  });

  test("is reachable at its daemon's port only", async () => {
    const listen = "Bun.listen({ hostname: '0.0.0.0', port: 3000, socket: { data() {} } })";
    // the stand-in is a Bun: it runs what BUN_BE_BUN lets it
    const command = ["env", "BUN_BE_BUN=1", "/usr/local/bin/svc-agent", "-e", listen];
    await ask(sandbox, { do: "spawn", command });
    const inside = () => connect("127.0.0.1", 3000);
    await until("something listens inside", async () => (await inside()) === "connected");
    const host = sandbox.address?.hostname ?? "";
    const outside = Bun.spawnSync(["timeout", "2", "bash", "-c", `exec 3<>/dev/tcp/${host}/3000`]);
    expect(outside.exitCode).not.toBe(0);
  });

  test("has only the capabilities that its daemon needs, and its agent has none", async () => {
    const [{ Id }] = await sandboxContainers();
    const { HostConfig, Mounts } = await docker("GET", `/containers/${Id}/json`);
    expect(HostConfig).toMatchObject({ Privileged: false, CapDrop: ["ALL"], Binds: null });
    expect(HostConfig.SecurityOpt).toEqual(["no-new-privileges"]);
    expect(Mounts).toEqual([]);
    const status = async (path: string): Promise<Record<string, string>> => {
      const { out } = await ask(sandbox, { do: "run", command: ["cat", path] });
      return Object.fromEntries(out.split("\n").map((line: string) => line.split(/:\s+/)));
    };
    // CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID: bits 0, 1, 3, 5, 6 and 7
    expect(await status("/proc/1/status")).toMatchObject({
      CapEff: "00000000000000eb",
      CapBnd: "00000000000000eb",
      NoNewPrivs: "1",
      Seccomp: "2",
    });
    expect(await status("/proc/self/status")).toMatchObject({
      Uid: "1000\t1000\t1000\t1000",
      CapEff: "0000000000000000",
      NoNewPrivs: "1",
    });
  });

  test("has rules for every closed address", async () => {
    const rules = await rulesOf(spec.sessionId);
    for (const part of [
      "169.254.0.0/16",
      "10.0.0.0/8",
      "192.168.0.0/16",
      "168.63.129.16",
      neighbours.internet.ours,
    ]) {
      expect(rules).toContain(part);
    }
    expect(rules).toContain("meta nfproto ipv6 reject");
    const servers = readFileSync("/etc/resolv.conf", "utf8").match(/(?<=^nameserver )[\d.]+/gm) ?? [];
    const asked = servers.filter((server) => !server.startsWith("127."));
    if (asked.length > 0) expect(rules).toContain(asked[0] ?? "");
  });

  test("enforces limits of CPU, memory and processes; warns if it cannot limit the disk", async () => {
    const limits = { cpus: 0.5, memoryBytes: 512 * 1024 ** 2, diskBytes: 64 * 1024 ** 2, processes: 64 };
    const bounded = specOf({}, { limits });
    const watch = watchOf();
    const small = await provider.start(bounded, watch, AbortSignal.timeout(WAIT_LIMIT_MS));
    await until("it answers", () =>
      ask(small, { do: "print", base64: "" }).then(
        () => true,
        () => false,
      ),
    );
    const [{ Id }] = await sandboxContainers(bounded.sessionId);
    const { HostConfig } = await docker("GET", `/containers/${Id}/json`);
    expect(HostConfig).toMatchObject({
      NanoCpus: 5e8,
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      PidsLimit: 64,
    });
    if (!HostConfig.StorageOpt) expect(watch.lines.join("\n")).toContain("cannot limit the disk usage");
    const run = (script: string) => ask(small, { do: "run", command: ["sh", "-c", script] });
    // the file counts as memory: the sandbox has little left while it is there
    const large = "head -c 100000000 /dev/zero > /tmp/large; stat -c %s /tmp/large; rm /tmp/large";
    expect((await run(large)).out).toBe("67108864\n");
    expect((await run("for i in $(seq 100); do sleep 3 & done; wait")).err).toMatch(/fork/i);
    await ask(small, { do: "eat memory" }).catch(() => {});
    await until("it has ended", async () => (await provider.find(bounded.sessionId))?.state === "ended");
    expect(await provider.find(bounded.sessionId)).toMatchObject({ exitCode: 137, outOfMemory: true });
  });

  function sandboxContainers(sessionId = spec.sessionId) {
    const filters = { label: [`svc.session=${sessionId}`, "svc.role=sandbox"] };
    return docker("GET", `/containers/json?all=1&filters=${encodeURIComponent(JSON.stringify(filters))}`);
  }
});

/** The nft rules in a session's network namespace. */
async function rulesOf(sessionId: string): Promise<string> {
  const filters = encodeURIComponent(
    JSON.stringify({ label: [`svc.session=${sessionId}`, "svc.role=fence"] }),
  );
  const [{ Id }] = await docker("GET", `/containers/json?filters=${filters}`);
  const exec = { AttachStdout: true, Tty: true, Cmd: ["nft", "list", "ruleset"] };
  const { Id: execId } = await docker("POST", `/containers/${Id}/exec`, exec);
  return docker("POST", `/exec/${execId}/start`, { Detach: false, Tty: true });
}
