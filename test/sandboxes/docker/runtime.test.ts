import { afterAll, test as always, beforeAll, describe, expect } from "bun:test";
import { rmSync } from "node:fs";
import { TEST_RUNTIMES } from "../../../scripts/docker-runtimes.ts";
import { WAIT_LIMIT_MS } from "../../../scripts/test/limit.ts";
import { createDockerProvider } from "../../../src/sandboxes/docker/docker.ts";
import { READABLE, verdictOf } from "../../../src/sandboxes/docker/probe-walls.ts";
import { type Provider, type ProviderOptions, SandboxError } from "../../../src/sandboxes/provider.ts";
import { DOCKER, docker, leftoversOf } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import {
  type ApiStandIn,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../../helpers/sandbox-bench.ts";
import { standInPrograms } from "../../helpers/stand-in-programs.ts";

/** An engine that a developer names does not have them. */
const hasRuntimes = DOCKER[1] && TEST_RUNTIMES.pastRules in (await docker("GET", "/info")).Runtimes;
const test = needs(DOCKER[0], hasRuntimes);

describe("SVC_DOCKER_RUNTIME", () => {
  let binaries: string;
  let api: ApiStandIn;
  let options: ProviderOptions;
  const providers: Provider[] = [];

  beforeAll(async () => {
    if (!hasRuntimes) return;
    binaries = await standInPrograms();
    api = startApiStandIn();
    options = optionsOf(api, binaries);
  });

  afterAll(async () => {
    for (const { sessionId } of (await providers[0]?.list()) ?? []) await providers[0]?.stop(sessionId, 0);
    for (const provider of providers) await provider.close();
    await api?.stop();
    if (options) rmSync(options.dataDir, { recursive: true, force: true });
  });

  const provider = (runtime: string | null) => {
    const made = createDockerProvider(options, runtime);
    providers.push(made);
    return made;
  };

  /** Containers that svc has made, as the engine has them. */
  async function containersOf(sessionId: string) {
    const filters = encodeURIComponent(JSON.stringify({ label: [`svc.session=${sessionId}`] }));
    const listed: { Id: string }[] = await docker("GET", `/containers/json?all=1&filters=${filters}`);
    return await Promise.all(listed.map(({ Id }) => docker("GET", `/containers/${Id}/json`)));
  }

  test("is the runtime of the sandbox, and not of the container that sets its rules", async () => {
    const chosen = provider(TEST_RUNTIMES.ordinary);
    for (const spec of [specOf(), specOf({}, { egress: "restricted" })]) {
      await startSandbox(chosen, spec);
      const containers = await containersOf(spec.sessionId);
      const runtimes = containers.map(({ Config, HostConfig }) => [
        Config.Labels["svc.role"],
        HostConfig.Runtime,
      ]);
      expect(Object.fromEntries(runtimes)).toEqual({ sandbox: TEST_RUNTIMES.ordinary, fence: "runc" });
      await chosen.stop(spec.sessionId, 0);
    }
    expect(await chosen.walls()).toContain("network");
    expect(await probesLeft()).toEqual([]);
  });

  test.each([
    [
      TEST_RUNTIMES.pastRules,
      [/do not hold with the runtime "svc-test-past-rules"/, /\(TCP, UDP\)/, /--network=host/],
    ],
    [
      TEST_RUNTIMES.unconnected,
      [/cannot verify the isolation .* "svc-test-unconnected"/, /docs\/docker\.md/],
    ],
    [TEST_RUNTIMES.sameUser, [/"svc-test-same-user", an agent can read the environment/, /a newer release/]],
    ["runcs", [/no runtime "runcs" \(SVC_DOCKER_RUNTIME\)/, /It has: .*runc, svc-test-ordinary/]],
  ])(
    "refuses %s, at the server's start and for each sandbox, and leaves nothing",
    async (name, sentences) => {
      const refused = provider(name);
      const spec = specOf();
      const refusals = await Promise.all([
        refused.start(spec, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS)).catch((error: unknown) => error),
        refused.walls().catch((error: unknown) => error),
      ]);
      for (const refusal of refusals) {
        expect(refusal).toBeInstanceOf(SandboxError);
        expect(refusal).toMatchObject({ permanent: true });
        for (const sentence of sentences) expect(String(refusal)).toMatch(sentence);
      }
      expect(await leftoversOf(options, spec.sessionId)).toEqual([]);
      expect(await probesLeft()).toEqual([]);
    },
  );

  async function probesLeft(): Promise<string[]> {
    const containers: { Names: string[] }[] = await docker("GET", "/containers/json?all=1");
    const networks: { Name: string }[] = await docker("GET", "/networks");
    return [...containers.flatMap(({ Names }) => Names), ...networks.map(({ Name }) => Name)].filter((name) =>
      name.includes("svc-probe-"),
    );
  }
});

const attempts = (reached: readonly ("TCP" | "UDP")[], exitCode = 0) => ({
  ...{ reached: new Set(reached), exitCode },
});

always("a runtime is accepted if its containers reach what is open, and can do nothing else", () => {
  expect(verdictOf("x", attempts([]), attempts(["TCP"]))).toBeNull();
  for (const [closed, open, leaks] of [
    [attempts(["TCP"]), attempts(["TCP"]), "TCP"],
    [attempts(["UDP"]), attempts(["TCP"]), "UDP"],
    [attempts(["TCP"]), attempts([]), "TCP"],
    [attempts([]), attempts(["UDP"]), "UDP"],
    [attempts([]), attempts(["TCP", "UDP"]), "UDP"],
    [attempts(["UDP", "TCP"]), attempts(["TCP", "UDP"], READABLE), "TCP, UDP"],
  ] as const) {
    expect(verdictOf("x", closed, open)).toContain('do not hold with the runtime "x": a container reached');
    expect(verdictOf("x", closed, open)).toContain(`(${leaks})`);
  }
  expect(verdictOf("x", attempts([], READABLE), attempts(["TCP"]))).toContain("can read the environment");
  expect(verdictOf("x", attempts([]), attempts(["TCP"], READABLE))).toContain("can read the environment");
  for (const [closed, open] of [
    [attempts([]), attempts([])],
    [attempts([], 1), attempts(["TCP"])],
    [attempts([]), attempts(["TCP"], 137)],
  ] as const) {
    expect(verdictOf("x", closed, open)).toContain("cannot verify");
  }
});
