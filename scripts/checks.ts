import { join } from "node:path";
import { ROOT } from "./binaries.ts";
import { FILE_LINES_MAX, FUNCTION_LINES_MAX } from "./check-sizes.ts";

/** A static check. It passes with exit status 0, and prints its findings on failure. */
export interface Check {
  name: string;
  command: string[];
}

const program = (name: string) => join(ROOT, "node_modules/.bin", name);

export const CHECKS: readonly Check[] = [
  { name: "format and lint (biome)", command: [program("biome"), "check", "--error-on-warnings"] },
  // by default, four checkers each check what they share: two thirds more CPU time
  { name: "types (tsc)", command: [program("tsc"), "--noEmit", "--checkers", "1"] },
  { name: "dead code (knip)", command: [process.execPath, "--bun", program("knip"), "--no-progress"] },
  { name: "direction of imports", command: [process.execPath, "scripts/check-imports.ts"] },
  {
    name: `sizes (files of at most ${FILE_LINES_MAX} lines, functions of ${FUNCTION_LINES_MAX}, except tests)`,
    command: [process.execPath, "scripts/check-sizes.ts"],
  },
];
