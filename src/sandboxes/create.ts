import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";
import type { ProviderName } from "../contract/session.ts";
import type { Provider, ProviderOptions } from "./provider.ts";
import { type Sandboxes, sandboxesOf } from "./sandboxes.ts";

/**
 * Opens the providers that the operator allows, the default one first. Without a setting it opens only one, so that callers
 * cannot choose a provider with weaker isolation.
 */
export async function createSandboxes(
  config: Config,
  server: Pick<ProviderOptions, "installation" | "api" | "customRuntimes" | "egress">,
): Promise<Sandboxes> {
  const options: ProviderOptions = {
    ...server,
    dataDir: config.dataDir,
    apiUrl: config.sandboxApiUrl,
    binaries: binariesFolder(),
    runtime: config.runtimeBin,
  };
  const names = config.sandboxProviders.length > 0 ? config.sandboxProviders : [await defaultName()];
  return sandboxesOf(await Promise.all(names.map((name) => OPEN[name](options, config))));
}

async function defaultName(): Promise<ProviderName> {
  const { dockerAnswers } = await import("./docker/engine.ts");
  return (await dockerAnswers()) ? "docker" : "local";
}

/** Providers are loaded on demand, with their client libraries. */
const OPEN: Record<ProviderName, (options: ProviderOptions, config: Config) => Promise<Provider>> = {
  docker: async (options, { dockerRuntime }) =>
    (await import("./docker/docker.ts")).createDockerProvider(options, dockerRuntime),
  async local(options, { sandboxIsolation: isolation, orphanS }) {
    const { createLocalProvider } = await import("./local/local.ts");
    return createLocalProvider({ ...options, isolation, orphanS });
  },
  async kubernetes(options, config) {
    const { createKubernetesProvider } = await import("./kubernetes/kubernetes.ts");
    const { kubernetesImage: image, kubernetesNamespace: namespace } = config;
    const runtimeClass = config.kubernetesRuntimeClass;
    return createKubernetesProvider({ ...options, image, namespace, runtimeClass, kubeconfig: null });
  },
};

/** The folder with the programs for sandboxes: that of this program, or `dist` in a source tree. */
export function binariesFolder(): string {
  const beside = dirname(process.execPath);
  return existsSync(join(beside, "svc-agent")) ? beside : join(import.meta.dir, "..", "..", "dist");
}
