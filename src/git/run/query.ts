import type { Engine } from "./engine.ts";
import type { RunRequest, RunResult } from "./run.ts";

/** Runs a git command that answers a question about commits, with the limits of a merge. */
export function query(
  engine: Engine,
  { environment }: Pick<RunRequest, "environment">,
  args: readonly string[],
  options: Partial<RunRequest> = {},
): Promise<RunResult> {
  const { mergeMs: deadlineMs, mergeMemory: memory, outputBytes } = engine.limits;
  return engine.runner.run({ args, environment, deadlineMs, memory, outputBytes, ...options });
}

/** The lines of git's output that are not empty. */
export function linesOf({ stdout }: Pick<RunResult, "stdout">): string[] {
  return new TextDecoder().decode(stdout).split("\n").filter(Boolean);
}
