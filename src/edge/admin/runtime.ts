import type { Config } from "../../config.ts";
import { RUNTIME_VERSION } from "../../contract/runtime.ts";
import { RUNTIME_NAMES, type RuntimeName } from "../../contract/runtimes.ts";
import { binariesFolder } from "../../sandboxes/create.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import { agentVersion, installAgent } from "../../sandboxes/runtime/agents.ts";
import { findPlugins, findRuntime, missingRuntime } from "../../sandboxes/runtime/find.ts";
import { installRuntime, versionOf } from "../../sandboxes/runtime/install.ts";
import { InstallError } from "../../sandboxes/runtime/install-error.ts";
import { readCustomRuntimes } from "./custom-runtimes.ts";

type Settings = Pick<Config, "dataDir" | "runtimeBin" | "npmRegistry">;

/** Progress lines when stderr is not a terminal. */
const STEPS = 10;

/**
 * `svc-api runtime install`: downloads an agent into the data folder, with its progress on stderr.
 * @throws InstallError
 */
export async function runtimeInstall(
  { dataDir, npmRegistry }: Settings,
  name: RuntimeName,
  signal: AbortSignal,
): Promise<string> {
  const label = `${name} ${name === "opencode" ? RUNTIME_VERSION : agentVersion(name)}`;
  const say = progressTo(process.stderr, label);
  const stop = new AbortController();
  const reason = new InstallError("The installation was cancelled, and its files were removed.");
  signal.addEventListener("abort", () => stop.abort(reason), { once: true });
  const options = { dataDir, registry: npmRegistry, onProgress: say.progress };
  const installing =
    name === "opencode" ? installRuntime(options, stop.signal) : installAgent(name, options, stop.signal);
  return `${label} is in ${await installing.finally(say.end)}.`;
}

/** `svc-api runtime ls`: the agents that svc knows, and whether local sandboxes have them. */
export function runtimeList(config: Settings & Pick<Config, "runtimesFile">): string {
  const options = {
    ...{ dataDir: config.dataDir, runtime: config.runtimeBin, binaries: binariesFolder() },
    customRuntimes: [],
  };
  const known = RUNTIME_NAMES.map((name) => {
    const version = name === "opencode" ? RUNTIME_VERSION : agentVersion(name);
    return `${name.padEnd(12)} ${version.padEnd(8)} ${missingRuntime(options, name) === null ? "installed" : `not installed: svc-api runtime install ${name}`}`;
  });
  const custom = readCustomRuntimes(config.runtimesFile).map(
    ({ name, command, folder }) =>
      `${name.padEnd(12)} ${"".padEnd(8)} ${folder ?? `in sandboxes: ${command[0]}`}`,
  );
  return [...known, ...custom].join("\n");
}

/**
 * `svc-api runtime status`: the runtime of sandboxes.
 * @throws SandboxError when there is none
 */
export async function runtimeStatus(config: Settings): Promise<string> {
  const options = { dataDir: config.dataDir, runtime: config.runtimeBin, binaries: binariesFolder() };
  const program = findRuntime(options);
  const version = await versionOf(program);
  if (version === null)
    throw new SandboxError("The agent runtime does not run on this machine. Install another one.");
  const plugins = findPlugins(options);
  return [
    `opencode ${version} at ${program}${version === RUNTIME_VERSION ? "" : ` (svc is built for ${RUNTIME_VERSION})`}`,
    plugins === null
      ? "no plugin packages: projects with their own tools wait for the npm registry (svc-api runtime install)"
      : `plugin packages at ${plugins}`,
  ].join("\n");
}

function progressTo(
  stream: NodeJS.WriteStream,
  label: string,
): {
  progress(done: number, total: number): void;
  end(): void;
} {
  let step = -1;
  const steps = stream.isTTY ? 100 : STEPS;
  return {
    progress(done, total) {
      const now = Math.floor((done / total) * steps);
      if (now === step) return;
      step = now;
      const line = `${label}: ${megabytes(done)} of ${megabytes(total)} MB`;
      stream.write(stream.isTTY ? `\r${line}` : `${line}\n`);
    },
    end() {
      if (stream.isTTY && step >= 0) stream.write("\n");
    },
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
