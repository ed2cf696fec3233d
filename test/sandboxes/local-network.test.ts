import { afterAll, beforeAll, expect } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { createLocalProvider } from "../../src/sandboxes/local/local.ts";
import type { Sandbox } from "../../src/sandboxes/provider.ts";
import { BUBBLEWRAP } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import {
  type ApiStandIn,
  ask,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
} from "../helpers/sandbox-bench.ts";
import { standInPrograms } from "../helpers/stand-in-programs.ts";

const test = needs(...BUBBLEWRAP);

let api: ApiStandIn;
/** Another server on this machine, such as the operator's own model. */
let neighbour: ApiStandIn;
let binaries: string;
let options: Parameters<typeof createLocalProvider>[0];
let provider: ReturnType<typeof createLocalProvider>;
let one: Sandbox;
let two: Sandbox;

beforeAll(async () => {
  if (!BUBBLEWRAP[1]) return;
  binaries = await standInPrograms();
  [api, neighbour] = [startApiStandIn(), startApiStandIn()];
  options = { ...optionsOf(api, binaries), isolation: "required", orphanS: 900 };
  provider = createLocalProvider(options);
  [one, two] = await Promise.all([startSandbox(provider, specOf()), startSandbox(provider, specOf())]);
});
afterAll(async () => {
  if (!BUBBLEWRAP[1]) return;
  await provider.close();
  await Promise.all([api.stop(), neighbour.stop()]);
  rmSync(options.dataDir, { recursive: true, force: true });
});

const environmentOf = (sandbox: Sandbox) => ask(sandbox, { do: "environment" });
const visit = (sandbox: Sandbox, url: string) => ask(sandbox, { do: "visit", url });

test("two sessions listen on the same port, and each reaches only its own app", async () => {
  const apps = [
    [one, "first"],
    [two, "second"],
  ] as const;
  for (const [sandbox, answer] of apps) await ask(sandbox, { do: "listen", port: 3000, answer });
  for (const [sandbox, answer] of apps)
    expect(await visit(sandbox, "http://127.0.0.1:3000/")).toBe(`200 ${answer}`);
});

test("the daemon listens on port 8000 in each sandbox", async () => {
  for (const sandbox of [one, two]) {
    expect(await environmentOf(sandbox)).toMatchObject({
      ...{
        SVC_SERVICE_PORT: "8000",
        http_proxy: "http://127.0.0.1:61028",
        NO_PROXY: "127.0.0.1,localhost,::1",
      },
    });
    expect(await visit(sandbox, "http://127.0.0.1:8000/svc/health")).toContain(sandbox.sessionId);
  }
});

test("a sandbox cannot reach the server's machine, directly or through the proxy", async () => {
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const addresses = own.filter(({ family }) => family === "IPv4").map(({ address }) => address);
  expect(addresses).toContain("127.0.0.1");
  const { HTTP_PROXY: proxy } = await environmentOf(one);
  const { port } = neighbour.address;
  for (const host of addresses) {
    expect([host, await ask(one, { do: "connect", host, port })]).toEqual([host, "refused"]);
    const answer = await ask(one, { do: "visit", url: `http://${host}:${port}/`, proxy });
    expect([host, answer]).toEqual([
      host,
      expect.stringMatching(/^HTTP\/1.1 403 .*\r\n\r\nsvc: refused: .* is not on the public internet/s),
    ]);
  }
  expect(neighbour.visits).toEqual([]);
});

test("an agent's processes see neither the daemon's socket nor the relays", async () => {
  const { SVC_RUNTIME_WRAP } = await environmentOf(one);
  const list = ["ls", "/run/svc/daemon", "/run/svc/out"];
  expect((await ask(one, { do: "run", command: list })).out).toContain("api");
  const wrapped = await ask(one, { do: "run", command: [...JSON.parse(SVC_RUNTIME_WRAP), ...list] });
  expect(wrapped).toMatchObject({ out: "" });
  expect(wrapped.code).not.toBe(0);
});

test("a sandbox reaches svc's API", async () => {
  const { SVC_API_URL } = await environmentOf(one);
  expect(await visit(one, `${SVC_API_URL}/health`)).toBe("200 the API of the tests");
  expect(api.visits).toContain("/v1/health");
});

test("the next server after a killed one restores the network of its sandboxes", async () => {
  const { SVC_API_URL } = await environmentOf(one);
  // as a killed server leaves it: a socket on which nothing listens
  for (const name of readdirSync(join(options.dataDir, "o"))) rmSync(join(options.dataDir, "o", name, "api"));
  expect(await visit(one, `${SVC_API_URL}/health`)).not.toStartWith("200");
  const next = createLocalProvider(options);
  expect(await next.list()).toHaveLength(2);
  expect(await visit(one, `${SVC_API_URL}/health`)).toBe("200 the API of the tests");
  await next.close();
});
