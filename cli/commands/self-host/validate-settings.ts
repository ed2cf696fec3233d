import { join } from "node:path";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { API_SERVICE, compose } from "./compose.ts";
import type { Env } from "./env-file.ts";
import { type Ended, runProgram } from "./run-program.ts";
import { serverEnvironment } from "./server-environment.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

const CHECK = ["svc-api", "config", "check"] as const;
/** Compose creates a container for it. */
const CHECK_MS = 60_000;
/** The beginning of the line in which svc-api says why it does not start. */
const REASON = /^svc-api: (.+)$/m;
/** The exit status of an svc-api that has no `config check`. */
const UNKNOWN_COMMAND = 2;

/**
 * Checks settings as svc-api does when it starts, before they are stored. Another setting, which does not change, is only
 * reported.
 * @param changes an empty value removes a setting
 * @throws CliError `usage` if svc-api would not start with one of the changes
 */
export async function validateSettings(
  { system, out }: Context,
  stack: Stack,
  { mode }: State,
  env: Env,
  changes: Env,
): Promise<void> {
  const check = mode === "compose" ? checkInContainer : checkNative;
  const { code, err } = await check(system, stack, env, changes);
  if (code === 0) return;
  const reason = code === UNKNOWN_COMMAND ? undefined : REASON.exec(err)?.[1];
  if (reason === undefined) {
    return out.warn("The values could not be checked. If the next start refuses one, it says which.");
  }
  if ([...changes.keys()].some((name) => reason.includes(name))) {
    throw usage(reason, "No setting was changed. docs/configuration.md lists the accepted values.");
  }
  await out.warn(`The server does not start with another setting: ${reason}`);
}

type Check = (system: Context["system"], stack: Stack, env: Env, changes: Env) => Promise<Ended>;

const checkNative: Check = (system, stack, env) =>
  runProgram(
    { ...system, env: serverEnvironment(system.env, stack, env) },
    [join(stack.bin, CHECK[0]), ...CHECK.slice(1)],
    { cwd: stack.dir, ms: CHECK_MS },
  );

/** In a container of its own: that of the server may be stopped. The values are not in the command line. */
const checkInContainer: Check = (system, stack, env, changes) => {
  const names = new Set(
    [...env.keys(), ...changes.keys()].filter((name) => /^SVC_(?!SELF_HOST_)/.test(name)),
  );
  const flags = [...names].flatMap((name) => ["-e", name]);
  return compose(system, stack, ["run", "--rm", "--no-deps", "-T", ...flags, API_SERVICE, ...CHECK], {
    // empty is the same as not set
    env: Object.fromEntries([...names].map((name) => [name, env.get(name) ?? ""])),
    ms: CHECK_MS,
  });
};
