/** Of Java: the hosts that are reached without the proxy by default (java.net, Networking Properties). */
const JAVA_DIRECT = ["localhost", "127.*", "[::1]"];

/**
 * Adds the variables by which programs find a proxy. They are a convenience: a program that ignores them reaches nothing.
 * docs/egress.md lists the programs.
 * @param proxy an `http:` URL with a port
 * @param direct hosts that are reached without the proxy, besides loopback
 */
export function withProxy(
  environment: Readonly<Record<string, string>>,
  proxy: string,
  direct: readonly string[] = [],
): Record<string, string> {
  const exceptions = ["127.0.0.1", "localhost", "::1", ...direct].join(",");
  const { JAVA_TOOL_OPTIONS: own } = environment;
  return {
    ...environment,
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: exceptions },
    ...{ http_proxy: proxy, https_proxy: proxy, no_proxy: exceptions },
    // node 24 and later use the proxy variables only with this
    NODE_USE_ENV_PROXY: "1",
    // Yarn reads only its own, and stops at one that it does not know, such as YARN_NO_PROXY
    ...{ YARN_HTTP_PROXY: proxy, YARN_HTTPS_PROXY: proxy },
    JAVA_TOOL_OPTIONS: [...(own ? [own] : []), ...javaOptions(proxy, direct)].join(" "),
  };
}

/** Java, and with it Maven and Gradle, knows no proxy variables. */
function javaOptions(proxy: string, direct: readonly string[]): string[] {
  const { hostname, port } = new URL(proxy);
  return [
    ...["http", "https"].flatMap((name) => [
      `-D${name}.proxyHost=${hostname}`,
      `-D${name}.proxyPort=${port}`,
    ]),
    `-Dhttp.nonProxyHosts=${[...JAVA_DIRECT, ...direct].join("|")}`,
    // Maven 3.9 reads the properties above only with this
    "-Daether.connector.http.useSystemProperties=true",
  ];
}
