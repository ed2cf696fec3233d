/**
 * The variables by which programs find a proxy: git, curl, npm, pip, bun, cargo, go and apt read them. They are a
 * convenience: a program that ignores them reaches nothing.
 * @param direct hosts that are reached without the proxy, besides loopback
 */
export function proxyEnvironment(proxy: string, direct: readonly string[] = []): Record<string, string> {
  const exceptions = ["127.0.0.1", "localhost", "::1", ...direct].join(",");
  return {
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: exceptions },
    ...{ http_proxy: proxy, https_proxy: proxy, no_proxy: exceptions },
    // node 24 and later use the proxy variables only with this
    NODE_USE_ENV_PROXY: "1",
  };
}
