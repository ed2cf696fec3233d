import { createHash } from "node:crypto";
import { ROOT } from "../binaries.ts";

/** Seeds are drawn from so many, so that they are easily typed. */
const SEEDS = 1_000_000;

/** From where the properties of this commit draw: the same in all its runs, another in the next commit's. */
export function seedOfCommit(): number {
  const head = Bun.spawnSync(["git", "rev-parse", "HEAD"], { cwd: ROOT, stderr: "ignore" }).stdout.toString();
  return createHash("sha256").update(head).digest().readUInt32BE() % SEEDS;
}
