import type { Wall } from "../../contract/session.ts";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import {
  type Provider,
  type Sandbox,
  type SandboxSpec,
  type StartWatch,
  VOLUME_GRACE_MS,
} from "../provider.ts";
import { missingRuntime } from "../runtime/find.ts";
import { createEgress, type Egress, type EgressOptions } from "./egress.ts";
import { endSandbox } from "./end.ts";
import { findSandbox } from "./find.ts";
import { folderOf, listFolders, readState, removeTrials } from "./folder.ts";
import { findIsolation, type Isolation, type IsolationOptions, wallsOf } from "./isolation.ts";
import type { LaunchOptions } from "./launch.ts";
import { readLog } from "./log.ts";
import { createMemoryGuard, type MemoryGuard } from "./memory.ts";
import { choosePorts, type Ports } from "./ports.ts";
import { programsOfMachine } from "./programs.ts";
import { saveSandbox } from "./save.ts";
import { startSandbox } from "./start.ts";
import { localVolumes } from "./volumes.ts";

/** The time of each sandbox to save its work when the server shuts down. */
const CLOSE_GRACE_MS = 5_000;

export interface LocalOptions extends LaunchOptions, IsolationOptions, EgressOptions {
  /** For tests. */
  choosePorts?: typeof choosePorts;
}

/** The parts of the provider, and its state in memory. */
interface Local {
  options: LocalOptions;
  /** Finds what isolates new sandboxes. */
  isolation: () => Promise<Isolation>;
  egress: Egress;
  memory: MemoryGuard;
  /** The ports that this server has assigned to sessions. */
  assigned: Map<string, Ports>;
  /** What isolates each known sandbox. */
  walls: Map<string, readonly Wall[]>;
  /** Serializes the operations on each session's sandbox. */
  operations: KeyedMutex;
}

/**
 * Runs sandboxes as processes of this machine, isolated by bubblewrap. With `SVC_SANDBOX_ISOLATION=none` they are ordinary
 * processes of the server's user, and each session's log has a warning.
 *
 * 1. A shell supervises the processes of a sandbox and outlives the server: it keeps the end of the log and records
 *    the exit code (`supervise.ts`). All state of the provider is in the sandbox's folder and the process table.
 * 2. Below it, bubblewrap creates a separate root file system (`bubblewrap.ts`). In it, the daemon starts the runtime in
 *    a second bubblewrap, with other user and pid namespaces and a system call filter (`syscalls.ts`), so that the
 *    runtime cannot read the daemon's memory, which contains the service key.
 * 3. The sandbox has its own network namespace. The server reaches the daemon by a unix socket, and ports inside are
 *    forwarded to sockets of the server (`egress.ts`): the API, the model gateway, and a proxy that checks each address
 *    it connects to.
 * 4. A control group enforces the limits (`cgroup.ts`); without one, the server polls the memory (`memory.ts`).
 */
export function createLocalProvider(options: LocalOptions): Provider {
  const local: Local = {
    options,
    isolation: shareTrial(options),
    egress: createEgress(options),
    memory: createMemoryGuard(options.dataDir),
    assigned: new Map(),
    walls: new Map(),
    operations: new KeyedMutex(),
  };
  const folder = (sessionId: string) => folderOf(options.dataDir, sessionId);
  return {
    name: "local",
    volumes: localVolumes(options.dataDir),
    start: (spec, watch, signal) => start(local, spec, watch, signal),
    find: (sessionId) => findSandbox(options, folder(sessionId), sessionId),
    list: () => list(local),
    save: (spec) =>
      local.operations.run(spec.sessionId, async () => {
        await local.egress.open(spec.sessionId);
        await saveSandbox(options, folder(spec.sessionId), spec);
      }),
    stop: (sessionId, graceMs) => stop(local, sessionId, graceMs),
    walls: async () => wallsOf(await local.isolation()),
    programs: programsOfMachine,
    runtimeProblem: (name) => missingRuntime(options, name),
    wallsOf: (sessionId) => local.walls.get(sessionId) ?? null,
    logs: (sessionId, maxBytes) => readLog(folder(sessionId), maxBytes),
    async close() {
      const ended = await Promise.allSettled(
        (await list(local)).map(({ sessionId }) => stop(local, sessionId, CLOSE_GRACE_MS)),
      );
      local.memory.stop();
      await local.egress.closeAll();
      const failed = ended.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    },
  };
}

/** Shares one trial, and repeats one that failed: what is missing may be installed meanwhile. */
function shareTrial(options: LocalOptions): () => Promise<Isolation> {
  let trial: Promise<Isolation> | null = null;
  return () => {
    trial ??= removeTrials(options.dataDir)
      .then(() => findIsolation(options))
      .catch((error: unknown) => {
        trial = null;
        throw error;
      });
    return trial;
  };
}

async function start(
  local: Local,
  spec: SandboxSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { options, isolation, egress, assigned } = local;
  await endOthersWith(local, spec);
  return await local.operations.run(spec.sessionId, async () => {
    signal.throwIfAborted();
    const folder = folderOf(options.dataDir, spec.sessionId);
    const context = { folder, isolation, egress, assigned, choose: options.choosePorts ?? choosePorts };
    const sandbox = await startSandbox(options, context, spec, watch, signal);
    await cacheState(local, spec.sessionId);
    return sandbox;
  });
}

/** Ends sandboxes that still have the volume of the next one, such as one whose run was taken over by another server. */
async function endOthersWith(local: Local, { sessionId, volume }: SandboxSpec): Promise<void> {
  if (!volume) return;
  for (const other of await listFolders(local.options.dataDir)) {
    const state = await readState(folderOf(local.options.dataDir, other));
    if (other !== sessionId && state?.volume === volume.id) await stop(local, other, VOLUME_GRACE_MS);
  }
}

async function cacheState({ options, memory, walls }: Local, sessionId: string): Promise<void> {
  const state = await readState(folderOf(options.dataDir, sessionId));
  if (state && state.polledBytes !== null) memory.start();
  if (state?.walls) walls.set(sessionId, state.walls);
  else walls.delete(sessionId);
}

async function list(local: Local): Promise<Sandbox[]> {
  const { options } = local;
  const found = await Promise.all(
    (await listFolders(options.dataDir)).map(async (sessionId) => {
      await cacheState(local, sessionId);
      const sandbox = await findSandbox(options, folderOf(options.dataDir, sessionId), sessionId);
      // the sandbox of a killed server has no network until the sockets listen again
      if (sandbox?.address?.unix !== undefined) await local.egress.open(sessionId);
      return sandbox;
    }),
  );
  return found.flatMap((sandbox) => sandbox ?? []);
}

function stop(local: Local, sessionId: string, graceMs: number): Promise<void> {
  const { options, assigned, walls, egress } = local;
  return local.operations.run(sessionId, async () => {
    await endSandbox(options, folderOf(options.dataDir, sessionId), sessionId, graceMs);
    await egress.close(sessionId);
    assigned.delete(sessionId);
    walls.delete(sessionId);
  });
}
