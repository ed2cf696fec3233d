import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import { compose } from "./compose.ts";
import { lastLine } from "./engine.ts";
import { isRunning, look } from "./look.ts";
import { signal } from "./process-identity.ts";
import { aliveOf, readServerProcess, removeServerProcess } from "./server-process.ts";
import { stopService } from "./service.ts";
import type { Stack } from "./stack.ts";
import { type State, writeState } from "./state.ts";

type Host = Pick<System, "env" | "stderr" | "self" | "fetch" | "now" | "sleep">;

/** The database may take a minute to write everything. */
const COMPOSE_MS = 3 * 60_000;
/** The supervisor kills svc-api after 40 s. */
const STOP_MS = 60_000;
const POLL_MS = 100;

interface StopOptions {
  /** Whether stopped containers stay, for their logs. */
  keepLogs?: boolean;
}

/**
 * Stops what `self-host start` started, and nothing else. The data stays.
 * @returns whether something was running
 * @throws CliError `self_host` if it does not stop
 */
export async function stopStack(
  system: Host,
  stack: Stack,
  state: State,
  { keepLogs = false }: StopOptions = {},
): Promise<boolean> {
  const wasRunning = isRunning(await look(system, stack, state));
  if (state.mode === "compose") await stopContainers(system, stack, keepLogs ? "stop" : "down");
  else await stopProcesses(system, stack, state);
  await writeState(stack, { ...state, service: null });
  return wasRunning;
}

/** Stops the containers of the stack, also those in which a restore ran. @throws CliError `self_host` */
export async function stopContainers(
  system: Pick<Host, "env" | "stderr">,
  stack: Stack,
  verb: "stop" | "down",
): Promise<void> {
  // `down` without --volumes: these hold the data
  const { code, err } = await compose(system, stack, [verb], { ms: COMPOSE_MS });
  if (code === 0) return;
  throw new CliError("self_host", `Docker Compose cannot stop the server: ${lastLine(err)}`, {
    hint: "svc self-host status",
  });
}

async function stopProcesses(system: Host, stack: Stack, { service }: State): Promise<void> {
  const record = await readServerProcess(stack);
  if (service !== null && service !== "compose") await stopService(system, stack, service);
  const ended = () => {
    const { supervisor, api } = aliveOf(record);
    return supervisor === null && api === null;
  };
  const { supervisor, api } = aliveOf(record);
  // the supervisor ends svc-api; one that was killed cannot
  const leader = supervisor ?? api;
  if (leader !== null) signal(leader, "SIGTERM");
  for (const end = system.now() + STOP_MS; !ended(); await system.sleep(POLL_MS)) {
    if (system.now() < end) continue;
    throw new CliError("self_host", `The server (process ${leader?.pid}) does not stop.`, {
      hint: `See what it does: svc self-host logs. To kill it: kill -9 ${leader?.pid}`,
    });
  }
  await removeServerProcess(stack);
}
