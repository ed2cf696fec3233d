import { accessSync, constants, existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import { runtimeFolder } from "../../src/sandboxes/runtime/install.ts";
import { SANDBOXES } from "./isolation.ts";
import type { ScriptedModel } from "./model.ts";

/** The name of opencode for `needs`. */
export const RUNTIME_NAME = `opencode ${RUNTIME_VERSION} (SVC_DATA_DIR=~/.cache/svc svc-api runtime install)`;

/** The real agent runtime: SVC_RUNTIME_BIN, else what `.ci/run` keeps in the cache folder, else on the PATH. */
export const RUNTIME: string | null = findRuntime();

/** For `needs`: an agent at work in a local sandbox of a server that runs as its binary. */
export const AGENT: readonly [name: string, present: boolean] =
  RUNTIME === null ? [RUNTIME_NAME, false] : SANDBOXES;

function findRuntime(): string | null {
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const kept = join(runtimeFolder(join(cache, "svc")), "bin", "opencode");
  const named = process.env["SVC_RUNTIME_BIN"] || kept;
  if (isProgram(named)) return named;
  const found = Bun.which("opencode");
  return found !== null && versionOf(found) === RUNTIME_VERSION ? found : null;
}

/** The packages that projects' tools and plugins import, as they are installed beside it. */
export const RUNTIME_PLUGINS: string | null = findPlugins();

function findPlugins(): string | null {
  const folder = RUNTIME === null ? null : join(dirname(dirname(RUNTIME)), "plugins");
  return folder !== null && existsSync(join(folder, "node_modules")) ? folder : null;
}

/** The model that `modelEnvironment` chooses, as a session's `model` names it. */
export const MODEL = "svc/scripted";

/**
 * Variables with which a daemon (startSandbox) or a server (startApi) works with the real runtime and the scripted
 * model, as with an operator's model gateway. A session of a server asks for `MODEL` itself.
 */
export function runtimeEnvironment({ url }: Pick<ScriptedModel, "url">): Record<string, string> {
  return {
    SVC_RUNTIME_BIN: RUNTIME ?? "/nonexistent/opencode",
    ...(RUNTIME_PLUGINS !== null && { SVC_RUNTIME_PLUGINS: RUNTIME_PLUGINS }),
    SVC_LLM_BASE_URL: url,
    SVC_LLM_API_KEY: "scripted-model-key",
    SVC_OPENCODE_MODEL: MODEL,
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function versionOf(program: string): string {
  const ran = Bun.spawnSync([program, "--version"], { timeout: 120_000, stderr: "ignore" });
  return ran.stdout.toString().trim();
}
