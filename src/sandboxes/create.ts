import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";
import { createDockerProvider } from "./docker/docker.ts";
import { dockerAnswers } from "./docker/engine.ts";
import { createLocalProvider } from "./local/local.ts";
import type { ProviderOptions } from "./provider.ts";
import { type Sandboxes, sandboxesOf } from "./sandboxes.ts";

/** Opens the providers that this server can use; the default one first. */
export async function createSandboxes(
  config: Config,
  server: Pick<ProviderOptions, "installation" | "api">,
): Promise<Sandboxes> {
  const options: ProviderOptions = {
    ...server,
    dataDir: config.dataDir,
    apiUrl: config.sandboxApiUrl,
    binaries: binariesFolder(),
    runtime: config.runtimeBin,
  };
  const local = createLocalProvider(options);
  const wanted = config.sandboxProvider;
  // one that is asked for by name may be started later
  if (wanted !== "docker" && !(await dockerAnswers())) return sandboxesOf([local]);
  const docker = createDockerProvider(options);
  return sandboxesOf(wanted === "local" ? [local, docker] : [docker, local]);
}

/** The programs of a sandbox lie beside this one; those of a source tree are in its `dist`. */
function binariesFolder(): string {
  const beside = dirname(process.execPath);
  return existsSync(join(beside, "svc-agent")) ? beside : join(import.meta.dir, "..", "..", "dist");
}
