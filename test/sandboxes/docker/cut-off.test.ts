import { afterAll, beforeAll, describe, expect } from "bun:test";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../../scripts/test/limit.ts";
import { createDockerProvider } from "../../../src/sandboxes/docker/docker.ts";
import { dockerAnswers } from "../../../src/sandboxes/docker/engine.ts";
import { type Provider, type ProviderOptions, SandboxError } from "../../../src/sandboxes/provider.ts";
import { type CuttingSocket, cuttingSocket } from "../../helpers/cutting-socket.ts";
import { DOCKER, docker, leftoversOf, withDockerHost } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { generator, SEED, share } from "../../helpers/random.ts";
import {
  type ApiStandIn,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../../helpers/sandbox-bench.ts";
import { standInPrograms } from "../../helpers/stand-in-programs.ts";
import { until } from "../../helpers/until.ts";

const test = needs(...DOCKER);

/** Every run cuts one of so many requests, from one on that the seed draws. A stop has fewer requests. */
const EVERY = { start: share(4, 1), stop: share(2, 1) };
const firstOf = (every: number) => 1 + generator(SEED)(every);

describe("an engine that disconnects", () => {
  let binaries: string;
  let api: ApiStandIn;
  let options: ProviderOptions;
  let provider: Provider;
  let socket: CuttingSocket;

  beforeAll(async () => {
    if (!DOCKER[1]) return;
    binaries = await standInPrograms();
    api = startApiStandIn();
    options = optionsOf(api, binaries);
    provider = createDockerProvider(options);
    socket = await cuttingSocket((process.env["DOCKER_HOST"] ?? "").replace(/^unix:\/\//, ""));
    await withDockerHost(`unix://${socket.path}`, () => provider.list());
    const first = specOf();
    await startSandbox(provider, first);
    await provider.stop(first.sessionId, 0);
  });

  afterAll(async () => {
    for (const { sessionId } of (await provider?.list()) ?? []) await provider.stop(sessionId, 0);
    await provider?.close();
    socket?.close();
    await api?.stop();
    if (options) rmSync(options.dataDir, { recursive: true, force: true });
  });

  for (const when of ["before", "after"] as const) {
    test(`at a request of a start, ${when} the engine acts, leaves nothing`, async () => {
      for (let at = firstOf(EVERY.start); ; at += EVERY.start) {
        const spec = specOf();
        socket.cut(at, when);
        const failure = await provider.start(spec, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS)).then(
          () => null,
          (error: unknown) => error,
        );
        const requests = socket.spare();
        if (failure === null) {
          await provider.stop(spec.sessionId, 0);
          // a request that may be said twice is
          if (requests >= at) continue;
          expect(at).toBeGreaterThan(8);
          break;
        }
        expect([at, failure]).toEqual([at, expect.any(SandboxError)]);
        // what the engine made only after the connection was gone is seen as a leftover
        await until(
          `nothing is left of a start cut off at request ${at}`,
          async () => {
            const left = await leftoversOf(options, spec.sessionId);
            const listed = (await provider.list()).map(({ sessionId }) => sessionId);
            if (left.length > 0) expect(listed).toContain(spec.sessionId);
            return left.length === 0;
          },
          1_000,
        ).catch(() => provider.stop(spec.sessionId, 0));
        expect([at, await leftoversOf(options, spec.sessionId)]).toEqual([at, []]);
      }
    });

    test(`at a request of a stop, ${when} the engine acts, a second stop succeeds`, async () => {
      for (let at = firstOf(EVERY.stop); ; at += EVERY.stop) {
        const spec = specOf();
        await startSandbox(provider, spec);
        socket.cut(at, when);
        const failure = await provider.stop(spec.sessionId, 0).then(
          () => null,
          (error: unknown) => error,
        );
        const requests = socket.spare();
        if (failure !== null) {
          expect([at, failure]).toEqual([at, expect.any(SandboxError)]);
          await provider.stop(spec.sessionId, 0);
        }
        expect([at, await leftoversOf(options, spec.sessionId)]).toEqual([at, []]);
        if (requests < at) break;
      }
    });
  }

  test("a sandbox without its network namespace has ended, and can be stopped", async () => {
    const spec = specOf();
    await startSandbox(provider, spec);
    await docker("POST", `/containers/svc-${options.installation}-${spec.sessionId}-fence/kill`);
    expect(await provider.find(spec.sessionId)).toMatchObject({
      state: "ended",
      address: null,
      generation: 1,
    });
    await provider.stop(spec.sessionId, 0);
    expect(await leftoversOf(options, spec.sessionId)).toEqual([]);
  });

  test("reports a missing or unresponsive engine", async () => {
    const silent = join(tmpdir(), `svc-silent-${crypto.randomUUID().slice(0, 8)}.sock`);
    const server = createServer(() => {}).listen(silent);
    try {
      expect(await withDockerHost(`unix://${silent}`, dockerAnswers)).toBe(false);
      expect(await withDockerHost("unix:///nowhere.sock", dockerAnswers)).toBe(false);
      expect(await dockerAnswers()).toBe(true);
      const lost = createDockerProvider(options);
      const failure = await withDockerHost("unix:///nowhere.sock", () =>
        lost.start(specOf(), watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS)).catch((error: unknown) => error),
      );
      expect(failure).toBeInstanceOf(SandboxError);
      expect(failure).toMatchObject({
        message: expect.stringMatching(/^Cannot connect to Docker .*Start Docker/),
      });
    } finally {
      server.close();
      rmSync(silent, { force: true });
    }
  });
});
