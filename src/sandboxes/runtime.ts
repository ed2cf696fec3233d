import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ProviderOptions, SandboxError } from "./provider.ts";

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
    throw new SandboxError("SVC_RUNTIME_BIN names no program that the server can run.", { permanent: true });
  }
  const places = [
    Bun.which("opencode", { PATH: process.env["PATH"] ?? "" }),
    join(dataDir, "runtime", "node_modules", ".bin", "opencode"),
    join(dirname(binaries), "node_modules", ".bin", "opencode"),
  ];
  for (const place of places) {
    const program = place === null ? null : programAt(place);
    if (program !== null) return program;
  }
  throw new SandboxError(
    "The agent runtime is not installed on the server. Its operator can install it with " +
      "`npm install --global opencode-ai@1`, or name its program in SVC_RUNTIME_BIN.",
    { permanent: true },
  );
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
