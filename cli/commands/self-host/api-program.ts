import { join } from "node:path";
import type { System } from "../../system.ts";
import { API_SERVICE, compose } from "./compose.ts";
import { requireEnv } from "./env-file.ts";
import { type Ended, type RunOptions, runProgram } from "./run-program.ts";
import { serverEnvironment } from "./server-environment.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

/** Runs `svc-api` with the settings of the server, such as `["admin", "link", "--email", …]`: in its container, if it has one. */
export async function runApi(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
  { mode }: Pick<State, "mode">,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  if (mode === "compose") {
    return compose(system, stack, ["exec", "-T", API_SERVICE, "svc-api", ...args], options);
  }
  const env = serverEnvironment(system.env, stack, await requireEnv(stack));
  return runProgram({ ...system, env }, [join(stack.bin, "svc-api"), ...args], {
    cwd: stack.dir,
    ...options,
  });
}
