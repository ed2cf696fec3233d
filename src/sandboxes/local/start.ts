import { DAEMON_PORT, RUNTIME_PORT } from "../../contract/daemon.ts";
import type { EgressMode } from "../../contract/egress/policy.ts";
import type { Wall } from "../../contract/session.ts";
import {
  type ProviderOptions,
  type Sandbox,
  SandboxError,
  type SandboxLimits,
  type SandboxSpec,
  type StartWatch,
} from "../provider.ts";
import type { Egress } from "./egress.ts";
import { endSandbox } from "./end.ts";
import { type Folder, folderOf, listFolders, readState } from "./folder.ts";
import { type Isolation, wallsOf } from "./isolation.ts";
import { type LaunchOptions, launch } from "./launch.ts";
import { waitForPort, waitForSocket } from "./listening.ts";
import { MEMORY_POLL_S } from "./memory.ts";
import type { choosePorts, Ports } from "./ports.ts";

/** The dependencies of a start. */
export interface StartContext {
  folder: Folder;
  isolation: () => Promise<Isolation>;
  egress: Egress;
  /** The ports that this server has assigned to sessions. */
  assigned: Map<string, Ports>;
  choose: typeof choosePorts;
}

/** In a separate network namespace. */
const NAMESPACE_PORTS: Ports = { daemon: DAEMON_PORT, runtime: RUNTIME_PORT };
/** Another program rarely takes a chosen port before the daemon listens on it. */
const PORT_TRIES = 5;

/**
 * Starts a sandbox, after it removes what an earlier start has left. Returns when the daemon listens: until then, another
 * program can take its port.
 * @throws SandboxError
 */
export async function startSandbox(
  options: LaunchOptions,
  context: StartContext,
  spec: SandboxSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { folder, assigned } = context;
  const end = async () => {
    await endSandbox(options, folder, spec.sessionId, 0);
    await context.egress.close(spec.sessionId);
  };
  await end();
  try {
    await watch.step("sandbox");
    const isolation = await context.isolation();
    logIsolation(isolation, spec, watch);
    if (isolation !== null) {
      await context.egress.open(spec.sessionId);
      await launch(options, { folder, isolation }, spec, NAMESPACE_PORTS, watch, signal);
      return await waitForSocket(options, folder, spec.sessionId, watch, signal);
    }
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      const ports = await assignPorts(options, context, spec.sessionId);
      await launch(options, { folder, isolation }, spec, ports, watch, signal);
      const { sessionId } = spec;
      const sandbox = await waitForPort(options, folder, { sessionId, port: ports.daemon }, watch, signal);
      if (sandbox) return sandbox;
      if (tries === PORT_TRIES) throw new SandboxError("The sandbox has no free port to listen on.");
      watch.log("svc", "Another program has taken the sandbox's port. Trying another port.");
      await end();
    }
  } catch (error) {
    assigned.delete(spec.sessionId);
    await end();
    throw asSandboxError(error);
  }
}

/** Converts a system error, such as ENOSPC or EACCES, to one with the error's name but without the path. */
function asSandboxError(error: unknown): unknown {
  const code = error instanceof Error && "syscall" in error && "code" in error ? error.code : null;
  return code ? new SandboxError(`The server's machine could not start the sandbox (${code}).`) : error;
}

function logIsolation(isolation: Isolation, spec: SandboxSpec, watch: StartWatch): void {
  const { limits, volume, egress } = spec;
  if (isolation === null) {
    watch.log(
      "svc",
      "Warning: the operator has set SVC_SANDBOX_ISOLATION=none, so the agent is not isolated: it can do on the " +
        "server's machine everything that the user that runs svc can.",
    );
    if (egress !== "open")
      watch.log("svc", `Warning: without isolation, the policy egress = "${egress}" is not enforced.`);
  } else
    watch.log(
      "svc",
      `The sandbox is isolated by bubblewrap, in its own network namespace: it can reach ${EGRESS_TEXT[egress]}.`,
    );
  for (const line of limitLines(isolation, limits)) watch.log("svc", line);
  if (volume && isolation === null)
    watch.log(
      "svc",
      `Without isolation, the volume is not at ${volume.path}: the variable SVC_VOLUME has its path.`,
    );
}

const EGRESS_TEXT: Readonly<Record<EgressMode, string>> = {
  open: "svc and the public internet",
  restricted: "svc and the hosts that [network] of svc.toml allows",
  none: "only svc",
};

/** The lines of the session's log about the limits that apply, and those that do not. */
function limitLines(isolation: Isolation, limits: SandboxLimits): string[] {
  const walls = wallsOf(isolation);
  const resources: [Wall, name: string, size: string][] = [
    ["process_limit", "processes", `${limits.processes} processes`],
    ["memory_limit", "memory", `${Number((limits.memoryBytes / GIB).toFixed(1))} GiB of memory`],
    ["cpu_limit", "processors", limits.cpus === 1 ? "1 processor" : `${limits.cpus} processors`],
    ["disk_limit", "disk", ""],
  ];
  const limited = resources.filter(([wall]) => walls.includes(wall)).map(([, , size]) => size);
  const unlimited = resources.filter(([wall]) => !walls.includes(wall)).map(([, name]) => name);
  return [
    ...(limited.length === 0 ? [] : [`Limits: ${limited.join(", ")}.`]),
    `Not limited: ${unlimited.join(", ")}.`,
    ...(isolation?.cgroups === null
      ? [
          `Memory is checked every ${MEMORY_POLL_S} seconds, since svc cannot create control groups (cgroups) here.`,
        ]
      : []),
  ];
}

const GIB = 1024 ** 3;

/** Assigns two free ports that no other sandbox of this installation has. */
async function assignPorts(
  { dataDir }: ProviderOptions,
  { assigned, choose }: StartContext,
  sessionId: string,
): Promise<Ports> {
  const states = await Promise.all(
    (await listFolders(dataDir)).map((id) => readState(folderOf(dataDir, id))),
  );
  const ports = choose(
    new Set([
      ...states.flatMap((state) => (state ? [state.port, state.runtimePort] : [])),
      ...[...assigned.values()].flatMap(({ daemon, runtime }) => [daemon, runtime]),
    ]),
  );
  if (!ports) throw new SandboxError("The server's machine has no free port for the sandbox.");
  assigned.set(sessionId, ports);
  return ports;
}
