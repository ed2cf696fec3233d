import { createHash } from "node:crypto";
import { ROOT } from "../binaries.ts";

/** Seeds are smaller than this, so that they are easy to type. */
const SEEDS = 1_000_000;

/** The seed of property tests, which depends only on the commit. */
export function seedOfCommit(): number {
  const head = Bun.spawnSync(["git", "rev-parse", "HEAD"], { cwd: ROOT, stderr: "ignore" }).stdout.toString();
  return createHash("sha256").update(head).digest().readUInt32BE() % SEEDS;
}
