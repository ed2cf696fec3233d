import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import type { Env } from "./env-file.ts";
import { logsOf } from "./logs-of.ts";
import { askVersion, look, type ServiceStatus } from "./look.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

/** A first start creates a database; on a slow machine that takes a minute. */
const WAIT_MS = 3 * 60_000;
const POLL_MS = 250;
/** A started service that was never seen by then has failed: a busy machine takes seconds to load a program. */
const APPEAR_MS = 60_000;
/** How often a service may end during the start before the start has failed. */
const RESTARTS_MAX = 2;
const LOG_LINES = 20;

/**
 * Waits until the server answers. `onChange` is called with the services whenever one changes.
 * @returns the server's version
 * @throws CliError `self_host` with the last lines of the service that fails
 */
export async function waitHealthy(
  system: Pick<System, "env" | "stderr" | "fetch" | "now" | "sleep">,
  stack: Stack,
  state: Pick<State, "mode">,
  env: Env,
  onChange: (services: readonly ServiceStatus[]) => Promise<void>,
): Promise<string> {
  let shown = "";
  let isSeen = false;
  const startedAt = system.now();
  for (; ; await system.sleep(POLL_MS)) {
    const version = await askVersion(system, env);
    const services = await look(system, stack, state);
    const elapsed = system.now() - startedAt;
    isSeen ||= services.every(({ state }) => state !== "stopped");
    const broken = isSeen || elapsed > APPEAR_MS ? services.find(isBroken) : undefined;
    // another server may answer at this address while ours fails
    if (version !== null && broken === undefined && services.every(({ state }) => state === "running")) {
      return version;
    }
    const now = services.map(({ name, state }) => `${name} ${state}`).join();
    if (isSeen && now !== shown) await onChange(services);
    shown = now;
    const late = services.find(({ state }) => state !== "running") ?? services.at(-1);
    const failed = broken ?? (elapsed > WAIT_MS ? late : undefined);
    if (failed) throw await failure(system, stack, state, failed);
  }
}

const WHAT: Record<ServiceStatus["state"], string> = {
  running: "does not answer",
  starting: "is not ready",
  restarting: "ended after its start",
  orphaned: "has lost its supervisor",
  stopped: "has ended",
};

const isBroken = ({ state, restarts }: ServiceStatus): boolean =>
  state === "restarting" ? restarts > 0 : state === "stopped" || restarts > RESTARTS_MAX;

/** How often the log of a service is read until it has a line: the engine may give none while it restarts a container. */
const LOG_TRIES = 4;

async function failure(
  system: Pick<System, "env" | "stderr" | "sleep">,
  stack: Stack,
  state: Pick<State, "mode">,
  { name, state: status }: ServiceStatus,
): Promise<CliError> {
  let lines = await logsOf(system, stack, state, name, LOG_LINES);
  for (let tries = 1; tries < LOG_TRIES && lines.length === 0; tries++) {
    await system.sleep(POLL_MS);
    lines = await logsOf(system, stack, state, name, LOG_LINES);
  }
  return new CliError("self_host", `The server did not start: the service ${name} ${WHAT[status]}.`, {
    log: lines.map((text) => ({ source: name, text })),
    hint: `Correct the cause, then run \`svc self-host start\` again. All lines: svc self-host logs ${name}`,
  });
}
