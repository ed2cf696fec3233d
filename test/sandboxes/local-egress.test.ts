import { afterAll, beforeAll, expect } from "bun:test";
import { rmSync } from "node:fs";
import { createLocalProvider } from "../../src/sandboxes/local/local.ts";
import type { Sandbox } from "../../src/sandboxes/provider.ts";
import { type Internet, makeInternet } from "../helpers/internet.ts";
import { BUBBLEWRAP } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import {
  type ApiStandIn,
  ask,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../helpers/sandbox-bench.ts";
import { standInPrograms } from "../helpers/stand-in-programs.ts";
import { ALLOWED_WAYS, CLOSED_WAYS, REACHED, STRAY } from "../helpers/ways-out.ts";

const isHere = BUBBLEWRAP[1] && process.getuid?.() === 0 && Bun.which("ip") !== null;
const test = needs(`${BUBBLEWRAP[0]}, as root`, isHere);

let internet: Internet;
let api: ApiStandIn;
let binaries: string;
let options: Parameters<typeof createLocalProvider>[0];
let provider: ReturnType<typeof createLocalProvider>;
let sandbox: Sandbox;
let outcomes: Record<string, string>;
const watch = watchOf();

beforeAll(async () => {
  if (!isHere) return;
  internet = await makeInternet("25.77.78.77");
  api = startApiStandIn();
  binaries = await standInPrograms();
  options = {
    ...optionsOf(api, binaries),
    isolation: "required",
    orphanS: 900,
    egress: internet.gate,
  };
  provider = createLocalProvider(options);
  sandbox = await startSandbox(provider, specOf({}, { egress: "restricted" }), watch);
  const { HTTP_PROXY: proxy } = await ask(sandbox, { do: "environment" });
  const closed = [
    ["169.254.169.254", 80],
    ["127.0.0.1", api.address.port],
    [internet.host.ours, api.address.port],
  ] as const;
  outcomes = await ask(sandbox, {
    do: "try the ways out",
    ways: { target: internet.host.address, closed, proxy },
  });
});
afterAll(async () => {
  if (!isHere) return;
  await provider.close();
  await api.stop();
  internet.remove();
  rmSync(options.dataDir, { recursive: true, force: true });
});

test("no way out of a restricted sandbox leads to what is not allowed", () => {
  const reached = CLOSED_WAYS.filter((way) => outcomes[way] === REACHED || outcomes[way] === undefined);
  expect(reached).toEqual([]);
  expect(internet.hits().filter((hit) => hit.includes(STRAY) || hit.includes("evil"))).toEqual([]);
});

test("what is allowed passes", () => {
  expect(Object.fromEntries(ALLOWED_WAYS.map((way) => [way, outcomes[way]]))).toEqual(
    Object.fromEntries(ALLOWED_WAYS.map((way) => [way, REACHED])),
  );
});

test("a name that is not allowed is not resolved, and an allowed one once for each connection", () => {
  expect(internet.resolved.filter((name) => name.includes("evil"))).toEqual([]);
  expect(internet.resolved.filter((name) => name === "rebind.test")).toHaveLength(1);
});

test("refusals and traffic are reported", () => {
  const { refusals, traffic } = internet.gate;
  for (const refusal of [
    { host: "evil.test", port: 443, reason: "not_allowed" },
    { host: internet.host.address, port: 443, reason: "not_allowed" },
    { host: "evil.test", port: 443, reason: "server_name" },
    { host: "private.test", port: 8080, reason: "not_public" },
  ] as const)
    expect(refusals).toContainEqual(refusal);
  // what a server sends back is 8 bytes for what is not HTTP
  expect(traffic).toContainEqual({ host: "allowed.test", sent: 5, received: 8 });
  expect(traffic.filter(({ sent }) => sent === 0)).toEqual([]);
});

test("with none, only svc is reached", async () => {
  internet.gate.policy = { mode: "none", allow: [] };
  const { HTTP_PROXY: proxy, SVC_API_URL } = await ask(sandbox, { do: "environment" });
  expect(await ask(sandbox, { do: "visit", url: "http://allowed.test/", proxy })).toContain('is "none"');
  expect(await ask(sandbox, { do: "visit", url: `${SVC_API_URL}/health` })).toBe("200 the API of the tests");
});

test("without a known policy nothing passes", async () => {
  internet.gate.policyOf = () => Promise.reject(new Error("the database is down"));
  const { HTTP_PROXY: proxy } = await ask(sandbox, { do: "environment" });
  expect(await ask(sandbox, { do: "visit", url: "http://allowed.test/", proxy })).toStartWith(
    "HTTP/1.1 503 ",
  );
});
