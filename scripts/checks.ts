import { join } from "node:path";
import { ROOT } from "./binaries.ts";

/** A check that reads the source and runs none of it. It passes with exit status 0, and says on failure what is wrong. */
export interface Check {
  name: string;
  command: string[];
}

const program = (name: string) => join(ROOT, "node_modules/.bin", name);

export const CHECKS: readonly Check[] = [
  { name: "format and lint (biome)", command: [program("biome"), "check", "--error-on-warnings"] },
  { name: "types (tsc)", command: [program("tsc"), "--noEmit"] },
  { name: "dead code (knip)", command: [process.execPath, "--bun", program("knip"), "--no-progress"] },
  { name: "direction of imports", command: [process.execPath, "scripts/check-imports.ts"] },
  { name: "sizes of files", command: [process.execPath, "scripts/check-sizes.ts"] },
];
