import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRuntimeName, RUNTIMES, type RuntimeName } from "../../contract/runtimes.ts";
import { type ProviderOptions, SandboxError } from "../provider.ts";
import { agentFolder, agentProgram } from "./agents.ts";
import { runtimeFolder } from "./install.ts";

/** The names of opencode's packages for this system: `opencode-linux-x64`, and its variants. */
const PACKAGES = ["", "-baseline", "-musl", "-baseline-musl"].map(
  (kind) => `opencode-${process.platform}-${process.arch}${kind}`,
);

/**
 * Finds the agent runtime's program: `SVC_RUNTIME_BIN`, else on the PATH, in the data folder, or in the `node_modules` of
 * the checkout that the server runs from.
 * @throws SandboxError with the command that installs it
 */
export function findRuntime({
  runtime,
  dataDir,
  binaries,
}: Pick<ProviderOptions, "runtime" | "dataDir" | "binaries">): string {
  if (runtime !== null) {
    if (isProgram(runtime)) return realpathSync(runtime);
    throw new SandboxError("SVC_RUNTIME_BIN is not an executable file.", { permanent: true });
  }
  const paths = [
    Bun.which("opencode", { PATH: process.env["PATH"] ?? "" }),
    join(runtimeFolder(dataDir), "bin", "opencode"),
    join(dirname(binaries), "node_modules", ".bin", "opencode"),
  ];
  for (const path of paths) {
    const program = path === null ? null : programAt(path);
    if (program !== null) return program;
  }
  throw new SandboxError(
    "The agent runtime is not installed on the server. The operator can install it with `svc-api runtime install`, or " +
      "set SVC_RUNTIME_BIN to its program.",
    { permanent: true },
  );
}

/** Files of a runtime on this machine. */
interface RuntimeFiles {
  /** The file or folder that a sandbox needs. */
  path: string;
  /** The program: relative to the folder; empty if the file is the program. */
  program: string;
}

/**
 * Finds what a sandbox needs of an agent.
 * @throws SandboxError with the command that installs it
 */
export function findRuntimeFiles(
  options: Parameters<typeof findRuntime>[0],
  name: RuntimeName,
): RuntimeFiles {
  if (name === "opencode") return { path: findRuntime(options), program: "" };
  const path = agentFolder(options.dataDir, name);
  const program = agentProgram(name);
  if (program !== null && existsSync(join(path, program))) return { path: realpathSync(path), program };
  throw new SandboxError(
    `${RUNTIMES[name].title} is not installed on the server. The operator can install it with \`svc-api runtime install ${name}\`.`,
    { permanent: true },
  );
}

/** Why an agent cannot be found, as a sentence; null if it can, or if sandboxes have it. */
export function missingRuntime(options: Parameters<typeof findFilesFor>[0], name: string): string | null {
  try {
    findFilesFor(options, name);
    return null;
  } catch (error) {
    if (error instanceof SandboxError) return error.message;
    throw error;
  }
}

/**
 * Finds what a sandbox needs of an agent, which may be one that the operator describes.
 * @returns null: the sandbox has it
 * @throws SandboxError with what the operator can do
 */
export function findFilesFor(
  options: Parameters<typeof findRuntime>[0] & Pick<ProviderOptions, "customRuntimes">,
  name: string,
): RuntimeFiles | null {
  if (isRuntimeName(name)) return findRuntimeFiles(options, name);
  const { folder = null, command: [program = ""] = [] } =
    options.customRuntimes.find((each) => each.name === name) ?? {};
  if (folder === null) return null;
  if (existsSync(join(folder, program))) return { path: realpathSync(folder), program };
  throw new SandboxError(
    `The agent ${name} is not in its folder on the server. The operator can correct SVC_RUNTIMES_FILE.`,
    { permanent: true },
  );
}

/**
 * Finds the packages that projects' own tools and plugins import, which `svc-api runtime install` has installed into the
 * data folder, or beside the runtime's program.
 * @returns a folder with `node_modules`; null: the runtime downloads the packages when a project needs them
 */
export function findPlugins(options: Parameters<typeof findRuntime>[0]): string | null {
  const folders = [runtimeFolder(options.dataDir), ...prefixOf(options)].map((path) => join(path, "plugins"));
  return folders.find((folder) => existsSync(join(folder, "node_modules"))) ?? null;
}

/** The folder whose `bin` has the runtime's program. */
function prefixOf(options: Parameters<typeof findRuntime>[0]): string[] {
  try {
    return [dirname(dirname(findRuntime(options)))];
  } catch {
    return [];
  }
}

/** Resolves npm's `opencode`, which may be a script that needs Node, to the program that it starts. */
function programAt(path: string): string | null {
  if (!isProgram(path)) return null;
  const program = realpathSync(path);
  if (!isScript(program)) return program;
  const own = dirname(dirname(program));
  const shared = dirname(own);
  const found = [join(own, "node_modules"), ...(basename(shared) === "node_modules" ? [shared] : [])]
    .flatMap((folder) => PACKAGES.map((name) => join(folder, name, "bin", "opencode")))
    .find(isProgram);
  return found === undefined ? program : realpathSync(found);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isScript(path: string): boolean {
  const start = Buffer.alloc(2);
  const file = openSync(path, "r");
  readSync(file, start);
  closeSync(file);
  return start.toString() === "#!";
}
