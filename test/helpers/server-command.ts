import { join } from "node:path";

/**
 * The command of a server of the tests: the compiled one if the test command has built it, which loads in a fifth of
 * the CPU time of its sources.
 */
export function serverCommand(name: "api" | "halting" | "dying" | "restore" | "trigger"): string[] {
  const built = process.env["SVC_TEST_SERVER"];
  return [...(built ? [built] : [process.execPath, join(import.meta.dir, "test-server.ts")]), name];
}
