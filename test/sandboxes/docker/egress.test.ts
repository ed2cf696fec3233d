import { afterAll, beforeAll, describe, expect } from "bun:test";
import { rmSync } from "node:fs";
import { createDockerProvider } from "../../../src/sandboxes/docker/docker.ts";
import type { Provider, ProviderOptions, Sandbox } from "../../../src/sandboxes/provider.ts";
import { DOCKER } from "../../helpers/docker-engine.ts";
import { type Internet, makeInternet } from "../../helpers/internet.ts";
import { needs } from "../../helpers/needs.ts";
import {
  type ApiStandIn,
  ask,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
} from "../../helpers/sandbox-bench.ts";
import { standInPrograms } from "../../helpers/stand-in-programs.ts";
import { ALLOWED_WAYS, CLOSED_WAYS, OPEN_WAYS, REACHED, STRAY } from "../../helpers/ways-out.ts";

/** The internet is a network namespace of this machine, so the engine has to be on it, and this process root. */
const isHere = DOCKER[1] && process.getuid?.() === 0 && Bun.which("ip") !== null;
const test = needs(DOCKER[0], isHere);

describe("a restricted sandbox in Docker", () => {
  let internet: Internet;
  let api: ApiStandIn;
  let binaries: string;
  let options: ProviderOptions;
  let provider: Provider;
  let sandbox: Sandbox;

  beforeAll(async () => {
    if (!isHere) return;
    internet = await makeInternet("25.77.79.77");
    api = startApiStandIn();
    binaries = await standInPrograms();
    options = { ...optionsOf(api, binaries), egress: internet.gate };
    provider = createDockerProvider(options);
    sandbox = await startSandbox(provider, specOf({}, { egress: "restricted" }));
  });
  afterAll(async () => {
    for (const { sessionId } of (await provider?.list()) ?? []) await provider.stop(sessionId, 0);
    await provider?.close();
    await api?.stop();
    internet?.remove();
    if (options) rmSync(options.dataDir, { recursive: true, force: true });
  });

  const strays = () => internet.hits().filter((hit) => hit.includes(STRAY) || hit.includes("evil"));

  test("reaches only what is allowed, by each way", async () => {
    const { HTTP_PROXY: proxy, SVC_API_URL } = await ask(sandbox, { do: "environment" });
    const closed = [
      ["169.254.169.254", 80],
      [new URL(SVC_API_URL).hostname, api.address.port],
      [internet.host.ours, api.address.port],
      ["172.17.0.1", api.address.port],
    ] as const;
    const ways = { target: internet.host.address, closed, proxy };
    const outcomes = await ask(sandbox, { do: "try the ways out", ways });
    expect(CLOSED_WAYS.filter((way) => outcomes[way] === REACHED || outcomes[way] === undefined)).toEqual([]);
    expect(strays()).toEqual([]);
    expect(ALLOWED_WAYS.filter((way) => outcomes[way] !== REACHED)).toEqual([]);
    expect(internet.resolved.filter((name) => name.includes("evil"))).toEqual([]);
  });

  test("has its proxy again after a restart of the server", async () => {
    const { HTTP_PROXY: proxy } = await ask(sandbox, { do: "environment" });
    const visit = (): Promise<string> =>
      ask(sandbox, { do: "visit", url: "http://allowed.test/", proxy }).catch(String);
    await provider.close();
    expect(await visit()).not.toContain(REACHED);
    provider = createDockerProvider(options);
    await provider.list();
    expect(await visit()).toContain(REACHED);
  });

  test("is not the only kind: an open one reaches the internet by the ways that avoid the proxy", async () => {
    const open = await startSandbox(provider, specOf());
    const ways = { target: internet.host.address, closed: [], proxy: null };
    const outcomes = await ask(open, { do: "try the ways out", ways });
    expect(OPEN_WAYS.filter((way) => outcomes[way] !== REACHED)).toEqual([]);
    expect((await ask(open, { do: "environment" }))["HTTP_PROXY"]).toBeUndefined();
  });
});
