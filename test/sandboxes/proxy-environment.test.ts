import { expect, test } from "bun:test";
import { withProxy } from "../../src/sandboxes/egress/environment.ts";

const PROXY = "http://172.20.0.1:4100";

/** The variables that programs read, by their documentation. */
const READ: readonly [program: string, names: readonly string[]][] = [
  ["curl, git, wget, apt and composer", ["http_proxy", "https_proxy"]],
  ["npm, pnpm, pip, uv, cargo, bundler, go and bun", ["HTTP_PROXY", "HTTPS_PROXY"]],
  ["Yarn", ["YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"]],
];

test.each(READ)("%s find the proxy", (_, names) => {
  const environment = withProxy({}, PROXY);
  expect(names.map((name) => environment[name])).toEqual(names.map(() => PROXY));
});

test("Java finds the proxy, and reaches loopback and svc without it", () => {
  expect(withProxy({}, PROXY, ["172.20.0.1"])["JAVA_TOOL_OPTIONS"]?.split(" ")).toEqual([
    ...["-Dhttp.proxyHost=172.20.0.1", "-Dhttp.proxyPort=4100"],
    ...["-Dhttps.proxyHost=172.20.0.1", "-Dhttps.proxyPort=4100"],
    "-Dhttp.nonProxyHosts=localhost|127.*|[::1]|172.20.0.1",
    "-Daether.connector.http.useSystemProperties=true",
  ]);
});

test("the environment keeps its own variables, and options of Java", () => {
  const environment = withProxy({ JAVA_TOOL_OPTIONS: "-Xmx2g", OTHER: "1", http_proxy: "http://own" }, PROXY);
  expect(environment).toMatchObject({ OTHER: "1", http_proxy: PROXY });
  expect(environment["JAVA_TOOL_OPTIONS"]).toStartWith("-Xmx2g -Dhttp.proxyHost=");
});

test("loopback and svc are reached without the proxy", () => {
  const { NO_PROXY, no_proxy, YARN_NO_PROXY } = withProxy({}, PROXY, ["172.20.0.1"]);
  expect(NO_PROXY).toBe("127.0.0.1,localhost,::1,172.20.0.1");
  expect(no_proxy).toBe(NO_PROXY);
  // Yarn stops at a setting that it does not know
  expect(YARN_NO_PROXY).toBeUndefined();
});
