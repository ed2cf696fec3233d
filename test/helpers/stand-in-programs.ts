import { chmodSync, copyFileSync, linkSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "./sandbox-bench.ts";

let made: Promise<string> | null = null;

/**
 * The folder with the stand-in for the programs of a sandbox (`sandbox-agent.ts`). All files of a process share it, so a test
 * writes nothing to it.
 */
export function standInPrograms(): Promise<string> {
  made ??= makePrograms();
  return made;
}

/** The program that stands in for the agent runtime. @param folder where it is compiled if the test command has not built it */
export async function standInRuntime(folder: string): Promise<string> {
  const built = process.env["SVC_TEST_RUNTIME"];
  if (built) return built;
  const program = join(folder, "opencode");
  await compile(join(import.meta.dir, "opencode.ts"), program);
  return program;
}

async function makePrograms(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-binaries-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // any user may be the one that runs them
  chmodSync(folder, 0o755);
  const agent = join(folder, "svc-agent");
  const built = process.env["SVC_TEST_SANDBOX"];
  if (built) copyFileSync(built, agent);
  else await compile(join(import.meta.dir, "sandbox-agent.ts"), agent);
  for (const name of ["svc-entrypoint", "svc"]) linkSync(agent, join(folder, name));
  return folder;
}
