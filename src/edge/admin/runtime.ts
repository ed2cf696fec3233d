import type { Config } from "../../config.ts";
import { RUNTIME_VERSION } from "../../contract/runtime.ts";
import { binariesFolder } from "../../sandboxes/create.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import { findPlugins, findRuntime } from "../../sandboxes/runtime/find.ts";
import { InstallError, installRuntime, versionOf } from "../../sandboxes/runtime/install.ts";

type Settings = Pick<Config, "dataDir" | "runtimeBin" | "npmRegistry">;

/** Progress lines when stderr is not a terminal. */
const STEPS = 10;

/**
 * `svc-api runtime install`: downloads the agent runtime into the data folder, with its progress on stderr.
 * @throws InstallError
 */
export async function runtimeInstall(
  { dataDir, npmRegistry }: Settings,
  signal: AbortSignal,
): Promise<string> {
  const say = progressTo(process.stderr);
  const stop = new AbortController();
  const reason = new InstallError("The installation was cancelled, and its files were removed.");
  signal.addEventListener("abort", () => stop.abort(reason), { once: true });
  const options = { dataDir, registry: npmRegistry, onProgress: say.progress };
  const folder = await installRuntime(options, stop.signal).finally(say.end);
  return `opencode ${RUNTIME_VERSION} is in ${folder}.`;
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

function progressTo(stream: NodeJS.WriteStream): {
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
      const line = `opencode ${RUNTIME_VERSION}: ${megabytes(done)} of ${megabytes(total)} MB`;
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
