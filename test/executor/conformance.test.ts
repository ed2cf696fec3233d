import { afterAll, beforeAll, expect, test } from "bun:test";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Api, startApi } from "../helpers/api.ts";

let api: Api;
/** Adds the token: the suite cannot send one. */
let proxy: Bun.Server<undefined>;

beforeAll(async () => {
  api = await startApi();
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("Authorization", `Bearer ${api.token}`);
      return fetch(`${api.url}/v1/executor/mcp`, {
        method: request.method,
        headers,
        body: request.method === "POST" ? request.body : null,
      });
    },
  });
});
afterAll(async () => {
  await proxy?.stop(true);
  await api?.stop();
});

/** The scenarios for servers without prompts, resources and the tools of the suite's own example. */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

test.each(SCENARIOS)("passes the protocol's conformance suite: %s", async (scenario) => {
  const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
  const url = `http://127.0.0.1:${proxy.port}/mcp`;
  const child = Bun.spawn([process.execPath, program, "server", "--url", url, "--scenario", scenario], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, code] = await Promise.all([text(child.stdout), child.exited]);
  expect([code, out]).toEqual([0, expect.stringMatching(/Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/)]);
});
