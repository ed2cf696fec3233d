import { DAEMON_PORT, RUNTIME_PORT } from "../../contract/daemon.ts";
import type { Wall } from "../../contract/session.ts";
import {
  type ProviderOptions,
  type Sandbox,
  SandboxError,
  type SandboxLimits,
  type SandboxSpec,
  type StartWatch,
} from "../provider.ts";
import type { Outlets } from "./egress.ts";
import { endSandbox } from "./end.ts";
import { type Folder, folderOf, listFolders, readState } from "./folder.ts";
import { type LaunchOptions, launch } from "./launch.ts";
import { untilAnswering, untilListening } from "./listening.ts";
import { MEMORY_POLL_S } from "./memory.ts";
import type { choosePorts, Ports } from "./ports.ts";
import { type Walls, wallsUp } from "./walls.ts";

export interface Place {
  folder: Folder;
  walls: () => Promise<Walls>;
  outlets: Outlets;
  /** The ports that this server has given to sessions. */
  given: Map<string, Ports>;
  choose: typeof choosePorts;
}

/** In a network of its own. */
const OWN_PORTS: Ports = { daemon: DAEMON_PORT, runtime: RUNTIME_PORT };
/** Somebody else took a port between our choosing and the daemon's listening: seldom once, never as often. */
const PORT_TRIES = 5;

/**
 * Starts a sandbox, and ends what there was of it. It returns when the daemon listens: until then its port may be
 * somebody else's.
 * @throws SandboxError
 */
export async function startSandbox(
  options: LaunchOptions,
  place: Place,
  spec: SandboxSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { folder, given } = place;
  const end = () => endSandbox(options, folder, spec.sessionId, 0);
  await end();
  try {
    watch.step("sandbox");
    const walls = await place.walls();
    warn(walls, spec, watch);
    if (walls !== null) {
      await place.outlets.open();
      await launch(options, { folder, walls }, spec, OWN_PORTS, watch, signal);
      return await untilAnswering(options, folder, spec.sessionId, watch, signal);
    }
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      const ports = await givePorts(options, place, spec.sessionId);
      await launch(options, { folder, walls }, spec, ports, watch, signal);
      const { sessionId } = spec;
      const sandbox = await untilListening(options, folder, { sessionId, port: ports.daemon }, watch, signal);
      if (sandbox) return sandbox;
      if (tries === PORT_TRIES) throw new SandboxError("The sandbox found no free port to listen on.");
      watch.log("svc", "Another program has taken the sandbox's port: trying another one.");
      await end();
    }
  } catch (error) {
    given.delete(spec.sessionId);
    await end();
    throw asSandboxError(error);
  }
}

/** What the system refuses (a full disk, a folder that may not be written) is said by its name, without the path. */
function asSandboxError(error: unknown): unknown {
  const code = error instanceof Error && "syscall" in error && "code" in error ? error.code : null;
  return code ? new SandboxError(`The server's machine could not start the sandbox (${code}).`) : error;
}

function warn(walls: Walls, { limits }: SandboxSpec, watch: StartWatch): void {
  if (walls === null) {
    watch.log(
      "svc",
      "Warning: the operator has set SVC_SANDBOX_ISOLATION=none, so the agent is not isolated: it can do on the " +
        "server's machine whatever the user that runs svc can.",
    );
  } else
    watch.log(
      "svc",
      "The sandbox runs behind bubblewrap, in a network of its own: it reaches svc and the public internet.",
    );
  for (const line of limitLines(walls, limits)) watch.log("svc", line);
}

/** Lines for the session's log: which limits apply to the sandbox, and which do not. */
function limitLines(walls: Walls, limits: SandboxLimits): string[] {
  const up = wallsUp(walls);
  const resources: [Wall, name: string, size: string][] = [
    ["process_limit", "processes", `${limits.processes} processes`],
    ["memory_limit", "memory", `${Number((limits.memoryBytes / GIB).toFixed(1))} GiB of memory`],
    ["cpu_limit", "processors", limits.cpus === 1 ? "1 processor" : `${limits.cpus} processors`],
    ["disk_limit", "disk", ""],
  ];
  const limited = resources.filter(([wall]) => up.includes(wall)).map(([, , size]) => size);
  const unlimited = resources.filter(([wall]) => !up.includes(wall)).map(([, name]) => name);
  return [
    ...(limited.length === 0 ? [] : [`Limits: ${limited.join(", ")}.`]),
    `Not limited: ${unlimited.join(", ")}.`,
    ...(walls?.cgroups === null
      ? [
          `Memory is checked every ${MEMORY_POLL_S} seconds, since svc cannot create control groups (cgroups) here.`,
        ]
      : []),
  ];
}

const GIB = 1024 ** 3;

/** Two ports that no other sandbox of this installation has, or will have when its programs listen. */
async function givePorts(
  { dataDir }: ProviderOptions,
  { given, choose }: Place,
  sessionId: string,
): Promise<Ports> {
  const states = await Promise.all(
    (await listFolders(dataDir)).map((id) => readState(folderOf(dataDir, id))),
  );
  const ports = choose(
    new Set([
      ...states.flatMap((state) => (state ? [state.port, state.runtimePort] : [])),
      ...[...given.values()].flatMap(({ daemon, runtime }) => [daemon, runtime]),
    ]),
  );
  if (!ports) throw new SandboxError("No port is free on the server's machine for the sandbox.");
  given.set(sessionId, ports);
  return ports;
}
