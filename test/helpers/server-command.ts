import { join } from "node:path";

/**
 * The command of a server of the fault tests: the compiled one if the test command has built it, which loads in a fifth of
 * the CPU time of its sources.
 */
export function serverCommand(name: "halting" | "dying" | "trigger"): string[] {
  const built = process.env["SVC_TEST_SERVER"];
  return [...(built ? [built] : [process.execPath, join(import.meta.dir, "test-server.ts")]), name];
}
