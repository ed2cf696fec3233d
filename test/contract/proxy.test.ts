import { expect, test } from "bun:test";
import { exemptLoopback, isLoopback, proxyOf } from "../../src/contract/proxy.ts";

const ALL = "localhost,127.0.0.1,127.0.0.0/8,::1";

test.each<[string, Record<string, string>, string | undefined]>([
  ["without a proxy", {}, undefined],
  ["with an exemption but no proxy", { NO_PROXY: "a.test" }, "a.test"],
  ["with HTTP_PROXY", { HTTP_PROXY: "http://p" }, ALL],
  ["with https_proxy", { https_proxy: "http://p" }, ALL],
  ["with ALL_PROXY", { ALL_PROXY: "http://p" }, ALL],
  ["with an empty proxy", { HTTP_PROXY: "" }, undefined],
  ["beside other hosts", { HTTP_PROXY: "http://p", NO_PROXY: "a.test, .b.test" }, `a.test,.b.test,${ALL}`],
  ["no address twice", { HTTP_PROXY: "http://p", NO_PROXY: "localhost" }, ALL],
  ["lower case wins", { HTTP_PROXY: "http://p", no_proxy: "a.test", NO_PROXY: "b.test" }, `a.test,${ALL}`],
  [
    "an empty lower case does not",
    { HTTP_PROXY: "http://p", no_proxy: "", NO_PROXY: "b.test" },
    `b.test,${ALL}`,
  ],
  ["where everything is exempt", { HTTP_PROXY: "http://p", NO_PROXY: "*" }, "*"],
])("NO_PROXY %s", (_, env, expected) => {
  const changed: Record<string, string | undefined> = { ...env };
  exemptLoopback(changed);
  expect(changed["NO_PROXY"]).toBe(expected);
  if (expected === ALL) expect(changed["no_proxy"]).toBe(ALL);
});

/** Also what Bun and curl do, once loopback is exempt: the test below asks them. */
test.each<[string, Record<string, string>, string | null]>([
  ["http://a.test/", { HTTP_PROXY: "http://p:1" }, "HTTP_PROXY http://p:1"],
  ["http://a.test/", { http_proxy: "http://low", HTTP_PROXY: "http://up" }, "http_proxy http://low"],
  ["http://a.test/", { HTTPS_PROXY: "http://p" }, null],
  ["https://a.test/", { HTTPS_PROXY: "http://p" }, "HTTPS_PROXY http://p"],
  ["https://a.test/", { HTTP_PROXY: "http://p" }, null],
  ["https://a.test/", { ALL_PROXY: "http://p" }, "ALL_PROXY http://p"],
  ["https://a.test/", { HTTPS_PROXY: "http://user:secret@p:1" }, "HTTPS_PROXY http://p:1"],
  ["https://a.test/", { HTTPS_PROXY: "user:secret@p:1" }, "HTTPS_PROXY p:1"],
  ["https://a.test/", { HTTPS_PROXY: "" }, null],
  ["https://a.test/", { HTTPS_PROXY: "http://p", NO_PROXY: "a.test" }, null],
  ["https://x.a.test/", { HTTPS_PROXY: "http://p", NO_PROXY: "a.test" }, null],
  ["https://x.a.test/", { HTTPS_PROXY: "http://p", NO_PROXY: "b.test, .A.test" }, null],
  ["https://xa.test/", { HTTPS_PROXY: "http://p", NO_PROXY: "a.test" }, "HTTPS_PROXY http://p"],
  ["https://a.test:8443/", { HTTPS_PROXY: "http://p", NO_PROXY: "a.test:8443" }, null],
  ["https://a.test/", { HTTPS_PROXY: "http://p", NO_PROXY: "*" }, null],
  ["http://localhost:8008/v1", { HTTP_PROXY: "http://p" }, null],
  ["http://LOCALHOST:8008/v1", { HTTP_PROXY: "http://p" }, null],
  ["http://shop.localhost/", { HTTP_PROXY: "http://p" }, null],
  ["http://127.8.8.8/", { HTTP_PROXY: "http://p" }, null],
  ["http://127.1/", { HTTP_PROXY: "http://p" }, null],
  ["http://[::1]:8008/", { HTTP_PROXY: "http://p" }, null],
  ["http://127.0.0.1.a.test/", { HTTP_PROXY: "http://p" }, "HTTP_PROXY http://p"],
  ["http://localhost.a.test/", { HTTP_PROXY: "http://p" }, "HTTP_PROXY http://p"],
  ["ssh://a.test/x", { ALL_PROXY: "http://p" }, null],
  ["git@a.test:x", { ALL_PROXY: "http://p" }, null],
])("the proxy for %s with %j", (url, env, expected) => {
  const proxy = proxyOf(url, env);
  expect(proxy && `${proxy.variable} ${proxy.address}`).toBe(expected);
});

test.each(["localhost", "a.localhost", "127.0.0.1", "127.255.0.9", "::1"])("%s is loopback", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(["localhost.test", "mylocalhost", "128.0.0.1", "127.0.0.1.test", "::2", "a127.0.0.1", ""])(
  "%s is not loopback",
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);

test("neither Bun nor git reaches a loopback address through a proxy", async () => {
  const seen: string[] = [];
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      seen.push(request.url);
      return new Response("from the proxy", { status: 418 });
    },
  });
  using origin = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("direct", { status: 404 }),
  });
  const env: Record<string, string | undefined> = {
    PATH: process.env["PATH"],
    http_proxy: `http://127.0.0.1:${proxy.port}`,
    GIT_CONFIG_NOSYSTEM: "1",
    LC_ALL: "C",
  };
  exemptLoopback(env);
  const hosts = ["127.0.0.1", "localhost", "shop.localhost"];
  const script = "for (const url of process.argv.slice(1)) await fetch(url).then((a) => a.text())";
  const urls = hosts.map((host) => `http://${host}:${origin.port}/x`);
  const answers = await Promise.all([
    ended([process.execPath, "-e", script, ...urls], env),
    ...urls.slice(0, 2).map((url) => ended(["git", "ls-remote", url], env)),
  ]);
  expect(seen).toEqual([]);
  // git has the origin's 404
  for (const { err } of answers.slice(1)) expect(err).toContain("not found");
  expect(answers[0]?.code).toBe(0);
  // the proxy is used for all other hosts
  await ended([process.execPath, "-e", script, "http://a.test/"], env);
  expect(seen).toEqual(["http://a.test/"]);
});

async function ended(command: string[], env: Record<string, string | undefined>) {
  const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const err = await new Response(child.stderr).text();
  return { code: await child.exited, err };
}
