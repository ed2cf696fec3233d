import { statSync } from "node:fs";
import type { Logger } from "pino";
import { type Config, ConfigError } from "../config.ts";
import { readTomlFile, tomlFileFault } from "../lib/toml-file.ts";
import { CatalogError, readCatalog, type Upstream } from "./catalog.ts";

/** The upstreams of the model gateway. */
export interface Models {
  /** The current upstreams. Reads SVC_MODELS_FILE again if it has changed. */
  upstreams(): readonly Upstream[];
}

/** The id of the upstream of SVC_LLM_BASE_URL. */
const DEFAULT_ID = "default";

type Configured = Pick<Config, "modelsFile" | "modelUpstream">;

/**
 * Opens the upstreams: those of SVC_MODELS_FILE, then the one of SVC_LLM_BASE_URL. A changed file that is not valid is
 * logged once, and the upstreams stay as they were.
 * @throws ConfigError when the file is not valid
 */
export function openModels(
  { modelsFile: path, modelUpstream }: Configured,
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Logger, "info" | "error">,
): Models {
  const single: Upstream[] = modelUpstream
    ? [{ id: DEFAULT_ID, format: "openai", ...modelUpstream, isOfProject: false, models: null }]
    : [];
  if (path === null) return { upstreams: () => single };
  let version = versionOf(path);
  let current: readonly Upstream[] = [...read(path, env, single), ...single];
  return {
    upstreams() {
      const now = versionOf(path);
      if (now === version) return current;
      version = now;
      try {
        current = [...read(path, env, single), ...single];
        log.info({ upstreams: current.map(({ id }) => id) }, "read SVC_MODELS_FILE again");
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        log.error(`${error.message} The upstreams stay as they were.`);
      }
      return current;
    },
  };
}

/** Changes when the file does; null without a file. */
function versionOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : null;
}

function read(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  others: readonly Upstream[],
): Upstream[] {
  try {
    const upstreams = readCatalog(readTomlFile(path), env);
    const taken = upstreams.find(({ id }) => others.some((other) => other.id === id));
    if (taken) throw new CatalogError(`the id "${taken.id}" is that of SVC_LLM_BASE_URL`);
    return upstreams;
  } catch (error) {
    const reason = error instanceof CatalogError ? error.message : tomlFileFault(error);
    throw new ConfigError(`SVC_MODELS_FILE (${path}) is not valid: ${reason}.`);
  }
}
