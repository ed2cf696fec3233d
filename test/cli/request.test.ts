import { expect, test } from "bun:test";
import { makeApi, path } from "../../cli/api.ts";
import { CliError } from "../../cli/failure.ts";
import type { Target } from "../../cli/target.ts";
import { failure, TOKEN } from "../helpers/cli-api.ts";
import { fakeSystem } from "../helpers/cli-run.ts";

const target: Target = {
  name: "team",
  url: "https://svc.test/v1",
  dashboardUrl: undefined,
  accountId: undefined,
  token: TOKEN,
  tokenSource: "config",
  source: "active",
};

/** A client whose network answers with these, one after the other; the last one goes on. */
function client(
  answers: (Response | Error | (() => Response))[],
  timeout?: number,
  env: Record<string, string> = {},
) {
  const calls: { url: string; init: RequestInit }[] = [];
  const system = fakeSystem({
    env,
    fetch: async (url, init) => {
      const answer = answers[Math.min(calls.length, answers.length - 1)];
      calls.push({ url, init });
      init.signal?.throwIfAborted();
      if (answer instanceof Error) throw answer;
      return typeof answer === "function" ? answer() : (answer?.clone() ?? new Response("{}"));
    },
  });
  return { api: makeApi(system, target, timeout), calls };
}

const broken = () => Object.assign(new Error("gone"), { code: "ECONNRESET" });
const refused = () => Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
const code = (error: unknown) => (error instanceof CliError ? error.code : error);
const read = { path: "/projects" };
const write = { path: "/projects", body: {} };

test.each([
  ["429", () => failure("rate_limited", "x", 429)],
  ["502 of a proxy", () => new Response("bad gateway", { status: 502 })],
  ["503", () => failure("unavailable", "x", 503, {}, { "Retry-After": "0" })],
  ["504", () => new Response("", { status: 504 })],
  ["a broken connection", broken],
])("retries a read after %s", async (_, answer) => {
  const { api, calls } = client([answer(), answer(), Response.json({ ok: true })]);
  expect(await api.call<{ ok: boolean }>(read)).toEqual({ ok: true });
  expect(calls).toHaveLength(3);
});

const hintOf = (error: unknown) => (error instanceof CliError ? error.extra.hint : error);

test.each<[string, Partial<Target>, Error | Response, string]>([
  ["your own server is down", {}, refused(), "svc self-host start"],
  [
    "another server named selfhost is down",
    { url: "http://svc.test/v1" },
    refused(),
    "Check your connection",
  ],
  ["another server of this machine is down", { name: "team" }, refused(), "Is svc running there?"],
  ["the default server is down", { name: "local-dev" }, refused(), "svc login --api <url>"],
  [
    "your own server refuses a private repository",
    {},
    failure("repo_not_allowed", "x", 400),
    "svc self-host env set SVC_ALLOW_PRIVATE_REPOS=1",
  ],
  [
    "a token of the environment is refused",
    { tokenSource: "SVC_CLI_TOKEN" },
    failure("unauthorized", "x", 401),
    "SVC_CLI_TOKEN was refused by selfhost. Unset it",
  ],
])("%s: the hint is the next command", async (_, changes, answer, hint) => {
  const own: Target = { ...target, name: "selfhost", url: "http://localhost:13738/v1", ...changes };
  const system = fakeSystem({
    fetch: async () => {
      if (answer instanceof Error) throw answer;
      return answer.clone();
    },
  });
  expect(await makeApi(system, own, undefined).call(write).catch(hintOf)).toContain(hint);
});

test("stops after four attempts", async () => {
  const { api, calls } = client([new Response("", { status: 504 })]);
  expect(await api.call(read).catch(code)).toBe("http_504");
  expect(calls).toHaveLength(4);
});

test.each([
  ["500", failure("internal", "x", 500)],
  ["404", failure("not_found", "x", 404)],
  ["409", failure("not_open", "x", 409)],
  ["a 502 in the API's own words", failure("repo_unreachable", "x", 502)],
  ["a pause longer than anybody waits", failure("rate_limited", "x", 429, {}, { "Retry-After": "3600" })],
])("does not retry a read after %s", async (_, answer) => {
  const { api, calls } = client([answer]);
  expect(await api.call(read).catch(code)).toBe(((await answer.json()) as { code: string }).code);
  expect(calls).toHaveLength(1);
});

test.each([
  ["503", failure("unavailable", "x", 503, {}, { "Retry-After": "0" })],
  ["a broken connection", broken()],
])("never retries a write: %s", async (_, answer) => {
  const { api, calls } = client([answer]);
  await api.call(write).catch(() => {});
  await api.call({ method: "DELETE", path: "/projects/x" }).catch(() => {});
  expect(calls).toHaveLength(2);
});

test("the timeout includes the retry delays and the body", async () => {
  const stalled = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("{"));
        },
      }),
    );
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => stalled() });
  const here = { ...target, url: `http://127.0.0.1:${server.port}/v1` };
  const api = makeApi(fakeSystem(), here, 1);
  expect(await api.call(read).catch(code)).toBe("timeout");
  await server.stop(true);
});

test("times out a silent server, not a slow reader of a stream", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            for (let i = 0; i < 3; i++) controller.enqueue(new Uint8Array(10));
          },
        }),
      ),
  });
  const here = { ...target, url: `http://127.0.0.1:${server.port}/v1` };
  const opened = await makeApi(fakeSystem(), here, 1).open({ ...read, accept: "text/x-diff" });
  let size = 0;
  const consume = async () => {
    for await (const chunk of opened.stream()) {
      size += chunk.byteLength;
      if (size <= 30) await Bun.sleep(1200);
    }
  };
  expect(await consume().catch(code)).toBe("timeout");
  expect(size).toBe(30);
  await server.stop(true);
});

test.each([
  ["ConnectionRefused", "The host refused the connection"],
  ["ENOTFOUND", "cannot be reached"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate is not trusted"],
  ["ECONNRESET", "connection to the host failed"],
])("%s has an error message with a hint", async (errorCode, says) => {
  const { api } = client([Object.assign(new Error("x"), { code: errorCode })]);
  const error = await api.call(write).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CliError);
  if (error instanceof CliError) {
    expect([error.code, error.message]).toEqual(["network", expect.stringContaining(says)]);
    expect(error.extra.hint).toBeString();
  }
});

test("reports the status of an error that is not JSON", async () => {
  const { api } = client([new Response("<html>", { status: 418 })]);
  expect(await api.call(write).catch(code)).toBe("http_418");
});

test("rejects an endless response", async () => {
  const endless = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(8 * 1024 * 1024)) }),
    );
  const { api } = client([endless]);
  expect(await api.call(read).catch(code)).toBe("unexpected_response");
});

test("stops a list whose cursor repeats", async () => {
  const { api, calls } = client([Response.json({ projects: [1], next_cursor: "same" })]);
  expect(await api.list<number>(read, "projects")).toEqual([1, 1]);
  expect(calls).toHaveLength(2);
});

test("encodes each part of a path as one segment, and sends nothing without a token", async () => {
  expect(path`/projects/${"a/../b?c#d"}/x`).toBe("/projects/a%2F..%2Fb%3Fc%23d/x");
  const calls: string[] = [];
  const system = fakeSystem({
    fetch: async (url) => {
      calls.push(url);
      return Response.json({});
    },
  });
  const api = makeApi(system, { ...target, token: undefined, tokenSource: null }, undefined);
  expect(await api.call(read).catch(code)).toBe("not_signed_in");
  expect(calls).toEqual([]);
});

const PROXY = "The proxy http://proxy.test:3128 (HTTPS_PROXY)";
const proxied = { HTTPS_PROXY: "http://user:secret@proxy.test:3128" };

test.each<[string, Record<string, string>, string, RegExp]>([
  [
    "ECONNREFUSED",
    proxied,
    `${PROXY} refused the connection, so the host was not reached`,
    /Correct HTTPS_PROXY/,
  ],
  ["ENOTFOUND", proxied, `${PROXY} cannot be reached, so neither can the host`, /svc\.test to NO_PROXY/],
  ["ERR_PROXY_TUNNEL", proxied, `${PROXY} refused to connect to the host`, /Correct HTTPS_PROXY/],
  ["UnsupportedProxyProtocol", proxied, `${PROXY} is of a kind that svc does not support`, /SOCKS/],
  ["ECONNREFUSED", {}, "The host refused the connection", /Check your connection/],
  ["ECONNREFUSED", { ...proxied, NO_PROXY: "svc.test" }, "The host refused the connection", /Check your/],
  ["ENOTFOUND", { HTTP_PROXY: "http://proxy.test" }, "The host cannot be reached", /Check your connection/],
])("%s with %j names what failed", async (systemCode, env, message, hint) => {
  const gone = Object.assign(new TypeError("gone"), { code: systemCode });
  const error = await client([gone], undefined, env)
    .api.call(write)
    .catch((failed: unknown) => failed);
  if (!(error instanceof CliError)) throw error;
  expect(error.code).toBe("network");
  expect(error.message).toBe(`${message}: team (https://svc.test/v1).`);
  expect(error.extra.hint).toMatch(hint);
  expect(JSON.stringify(error.extra) + error.message).not.toContain("secret");
});

test("a failure after the proxy, and an answer that may be the proxy's, name it too", async () => {
  const answers = [
    Object.assign(new TypeError("gone"), { code: "ECONNRESET" }),
    new Response("<h1>Bad gateway</h1>", { status: 502 }),
  ];
  const messages = await Promise.all(
    answers.map((answer) =>
      client([answer], undefined, proxied)
        .api.call(write)
        .catch((error: unknown) => String(error)),
    ),
  );
  expect(messages).toEqual([
    "CliError: The connection to the host failed (ECONNRESET): team (https://svc.test/v1, through the proxy http://proxy.test:3128 (HTTPS_PROXY)).",
    "CliError: The proxy http://proxy.test:3128 (HTTPS_PROXY) or team responded with status 502 and no error message.",
  ]);
});
