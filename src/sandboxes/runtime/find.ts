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
import { type ProviderOptions, SandboxError } from "../provider.ts";
import { runtimeFolder } from "./install.ts";

/** What opencode's packages for single systems are called in full: `opencode-linux-x64`, and for older processors. */
const PACKAGES = ["", "-baseline", "-musl", "-baseline-musl"].map(
  (kind) => `opencode-${process.platform}-${process.arch}${kind}`,
);

/**
 * Finds the agent runtime's program: `SVC_RUNTIME_BIN`, else on the PATH, in the data folder, or among the packages of
 * the checkout that the server runs from.
 * @throws SandboxError saying how to install it
 */
export function findRuntime({
  runtime,
  dataDir,
  binaries,
}: Pick<ProviderOptions, "runtime" | "dataDir" | "binaries">): string {
  if (runtime !== null) {
    if (isProgram(runtime)) return realpathSync(runtime);
    throw new SandboxError("SVC_RUNTIME_BIN is not a program that the server can run.", { permanent: true });
  }
  const places = [
    Bun.which("opencode", { PATH: process.env["PATH"] ?? "" }),
    join(runtimeFolder(dataDir), "bin", "opencode"),
    join(dirname(binaries), "node_modules", ".bin", "opencode"),
  ];
  for (const place of places) {
    const program = place === null ? null : programAt(place);
    if (program !== null) return program;
  }
  throw new SandboxError(
    "The agent runtime is not installed on the server. Its operator can install it with `svc-api runtime install`, or " +
      "set SVC_RUNTIME_BIN to its program.",
    { permanent: true },
  );
}

/**
 * Finds the packages that projects' own tools and plugins import: what `runtime install` has put into the data folder, or
 * beside the program that is used. Null: the runtime fetches them itself, when a project has such.
 * @returns a folder with `node_modules`
 */
export function findPlugins(options: Parameters<typeof findRuntime>[0]): string | null {
  const places = [runtimeFolder(options.dataDir), ...beside(options)].map((place) => join(place, "plugins"));
  return places.find((place) => existsSync(join(place, "node_modules"))) ?? null;
}

function beside(options: Parameters<typeof findRuntime>[0]): string[] {
  try {
    return [dirname(dirname(findRuntime(options)))];
  } catch {
    return [];
  }
}

/** The program itself: npm's `opencode` may be a script that looks for it, and wants a Node of its own. */
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
