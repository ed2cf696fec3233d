import type { Wall } from "../../contract/session.ts";
import type { Provider, Sandbox, SandboxSpec, StartWatch } from "../provider.ts";
import { createOutlets, type OutletOptions, type Outlets } from "./egress.ts";
import { endSandbox } from "./end.ts";
import { findSandbox } from "./find.ts";
import { folderOf, listFolders, readState, removeTrials } from "./folder.ts";
import type { LaunchOptions } from "./launch.ts";
import { readLog } from "./log.ts";
import { createMemoryGuard, type MemoryGuard } from "./memory.ts";
import { choosePorts, type Ports } from "./ports.ts";
import { saveSandbox } from "./save.ts";
import { startSandbox } from "./start.ts";
import { findWalls, type Walls, type WallsOptions, wallsUp } from "./walls.ts";

/** When the server ends in good order, each sandbox has as long to save its work. */
const CLOSE_GRACE_MS = 5_000;

export interface LocalOptions extends LaunchOptions, WallsOptions, OutletOptions {
  /** For tests. */
  choosePorts?: typeof choosePorts;
}

/** The parts of the provider, and what it knows of the sandboxes beside what is in their folders. */
interface Local {
  options: LocalOptions;
  /** What isolates new sandboxes. */
  walls: () => Promise<Walls>;
  outlets: Outlets;
  memory: MemoryGuard;
  /** The ports that this server has given to sessions. */
  given: Map<string, Ports>;
  /** What isolates the sandboxes that were seen last. */
  up: Map<string, readonly Wall[]>;
  /** The last of what is done to each session's sandbox. */
  turns: Map<string, Promise<unknown>>;
}

/**
 * Runs sandboxes as processes of this machine, behind bubblewrap's walls. Only where the operator has chosen no isolation
 * they are plain processes of the server's user, which each session's log says.
 *
 * 1. A shell supervises the processes of a sandbox and outlives the server: it keeps the end of the log and records
 *    the exit code (`supervise.ts`). All state of the provider is in the sandbox's folder and the process table.
 * 2. Below it bubblewrap makes a root filesystem of its own (`bubblewrap.ts`). In it the daemon starts the runtime in
 *    a second bubblewrap, with other user and pid namespaces and a system call filter (`syscalls.ts`), so that the
 *    runtime cannot read the daemon's memory, where the service key is.
 * 3. The sandbox has a network namespace of its own. The server reaches the daemon by a Unix socket, and ports inside
 *    lead to sockets of the server (`outlets.ts`): the API, the model gateway, and a proxy that checks each address
 *    it connects to.
 * 4. A control group enforces the limits (`cgroup.ts`); without one, the server polls the memory (`memory.ts`).
 */
export function createLocalProvider(options: LocalOptions): Provider {
  const local: Local = {
    options,
    walls: tryWalls(options),
    outlets: createOutlets(options),
    memory: createMemoryGuard(options.dataDir),
    given: new Map(),
    up: new Map(),
    turns: new Map(),
  };
  const folder = (sessionId: string) => folderOf(options.dataDir, sessionId);
  return {
    name: "local",
    start: (spec, watch, signal) => start(local, spec, watch, signal),
    find: (sessionId) => findSandbox(options, folder(sessionId), sessionId),
    list: () => list(local),
    save: (spec) =>
      inTurn(local, spec.sessionId, async () => {
        await local.outlets.open();
        await saveSandbox(options, folder(spec.sessionId), spec);
      }),
    stop: (sessionId, graceMs) => stop(local, sessionId, graceMs),
    walls: async () => wallsUp(await local.walls()),
    wallsOf: (sessionId) => local.up.get(sessionId) ?? null,
    logs: (sessionId, maxBytes) => readLog(folder(sessionId), maxBytes),
    async close() {
      const ended = await Promise.allSettled(
        (await list(local)).map(({ sessionId }) => stop(local, sessionId, CLOSE_GRACE_MS)),
      );
      local.memory.stop();
      local.outlets.close();
      const failed = ended.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    },
  };
}

/** One trial at a time, and none after one that worked; what is missing may be installed by the next time. */
function tryWalls(options: LocalOptions): () => Promise<Walls> {
  let trial: Promise<Walls> | null = null;
  return () => {
    trial ??= removeTrials(options.dataDir)
      .then(() => findWalls(options))
      .catch((error: unknown) => {
        trial = null;
        throw error;
      });
    return trial;
  };
}

function start(local: Local, spec: SandboxSpec, watch: StartWatch, signal: AbortSignal): Promise<Sandbox> {
  const { options, walls, outlets, given } = local;
  return inTurn(local, spec.sessionId, async () => {
    signal.throwIfAborted();
    const folder = folderOf(options.dataDir, spec.sessionId);
    const place = { folder, walls, outlets, given, choose: options.choosePorts ?? choosePorts };
    const sandbox = await startSandbox(options, place, spec, watch, signal);
    await see(local, spec.sessionId);
    return sandbox;
  });
}

/** What is done to one session's sandbox is done one after the other. */
async function inTurn<T>({ turns }: Local, sessionId: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(sessionId) ?? Promise.resolve()).then(work, work);
  turns.set(sessionId, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(sessionId) === turn) turns.delete(sessionId);
  }
}

async function see({ options, memory, up }: Local, sessionId: string): Promise<void> {
  const { walls = null, polledBytes = null } = (await readState(folderOf(options.dataDir, sessionId))) ?? {};
  if (polledBytes !== null) memory.start();
  if (walls === null) up.delete(sessionId);
  else up.set(sessionId, walls);
}

async function list(local: Local): Promise<Sandbox[]> {
  const { options, outlets } = local;
  const found = await Promise.all(
    (await listFolders(options.dataDir)).map(async (sessionId) => {
      await see(local, sessionId);
      return findSandbox(options, folderOf(options.dataDir, sessionId), sessionId);
    }),
  );
  const sandboxes = found.flatMap((sandbox) => sandbox ?? []);
  // those of a server that was killed: without it they reach nothing
  if (sandboxes.some(({ address }) => address?.unix !== undefined)) await outlets.open();
  return sandboxes;
}

function stop(local: Local, sessionId: string, graceMs: number): Promise<void> {
  const { options, given, up } = local;
  return inTurn(local, sessionId, async () => {
    await endSandbox(options, folderOf(options.dataDir, sessionId), sessionId, graceMs);
    given.delete(sessionId);
    up.delete(sessionId);
  });
}
