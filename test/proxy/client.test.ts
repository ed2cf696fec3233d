import { expect, test } from "bun:test";
import { ConfigError, readConfig } from "../../src/config.ts";
import { clientOf } from "../../src/edge/proxy/client.ts";
import { readRequestHead } from "../../src/splice/head.ts";

const config = readConfig({ SVC_TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7 fd00::/8" });

function clientBehind(peer: string, lines: readonly string[], settings = config): unknown[] {
  const bytes = Buffer.from(["GET / HTTP/1.1", "Host: a", ...lines, "", ""].join("\r\n"));
  const { address, scheme } = clientOf(settings, readRequestHead(bytes, bytes.length), peer);
  return [address, scheme];
}

test.each<[string, string, string[], unknown[]]>([
  ["no proxy", "203.0.113.1", [], ["203.0.113.1", null]],
  [
    "a client that forges its address",
    "203.0.113.1",
    ["X-Forwarded-For: 8.8.8.8", "X-Forwarded-Proto: https"],
    ["203.0.113.1", null],
  ],
  ["a proxy without headers", "10.1.2.3", [], ["10.1.2.3", null]],
  [
    "a proxy that names its client",
    "10.1.2.3",
    ["X-Forwarded-For: 203.0.113.1", "X-Forwarded-Proto: https"],
    ["203.0.113.1", "https"],
  ],
  [
    "a client's own header through the proxy",
    "10.1.2.3",
    ["X-Forwarded-For: 8.8.8.8, 203.0.113.1"],
    ["203.0.113.1", null],
  ],
  [
    "two lists",
    "10.1.2.3",
    ["X-Forwarded-For: 8.8.8.8", "X-Forwarded-For: 203.0.113.1"],
    ["203.0.113.1", null],
  ],
  [
    "proxies in a row",
    "10.1.2.3",
    ["X-Forwarded-For: 8.8.8.8, 203.0.113.1, 192.0.2.7"],
    ["203.0.113.1", null],
  ],
  ["proxies alone", "10.1.2.3", ["X-Forwarded-For: 10.9.9.9"], ["10.9.9.9", null]],
  ["an invalid address", "10.1.2.3", ["X-Forwarded-For: 203.0.113.1, unknown"], ["10.1.2.3", null]],
  ["ports", "10.1.2.3", ["X-Forwarded-For: 203.0.113.1:4711"], ["203.0.113.1", null]],
  ["IPv6 with a port", "fd00::1", ["X-Forwarded-For: [2001:db8::1]:4711"], ["2001:db8::1", null]],
  ["an IPv4 address as IPv6", "::ffff:10.1.2.3", ["X-Forwarded-For: 203.0.113.1"], ["203.0.113.1", null]],
  ["a scheme that is none", "10.1.2.3", ["X-Forwarded-Proto: javascript"], ["10.1.2.3", null]],
  [
    "a client's scheme before the proxy's",
    "10.1.2.3",
    ["X-Forwarded-Proto: https, http"],
    ["10.1.2.3", "http"],
  ],
])("the client behind %s", (_, peer, lines, expected) => {
  expect(clientBehind(peer, lines)).toEqual(expected);
});

test("ignores forwarded addresses without trusted proxies", () => {
  expect(clientBehind("127.0.0.1", ["X-Forwarded-For: 8.8.8.8"], readConfig({}))).toEqual([
    "127.0.0.1",
    null,
  ]);
});

test.each(["10.0.0.0/33", "proxy.example.com", "10.0.0", "::/129"])(
  "rejects SVC_TRUSTED_PROXIES=%s",
  (text) => {
    expect(() => readConfig({ SVC_TRUSTED_PROXIES: text })).toThrow(ConfigError);
  },
);

test.each(["9100", "example.com:9100", "127.0.0.1:70000", "127.0.0.1:", "127.0.0.1:9100/metrics"])(
  "rejects SVC_METRICS_LISTEN=%s",
  (text) => {
    expect(() => readConfig({ SVC_METRICS_LISTEN: text })).toThrow(ConfigError);
  },
);

test("SVC_METRICS_LISTEN is an address and a port", () => {
  expect(readConfig({ SVC_METRICS_LISTEN: "[::1]:9100" }).metricsListen).toEqual({
    hostname: "::1",
    port: 9100,
  });
});
