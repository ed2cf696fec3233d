import type { Wall } from "../../contract/session.ts";
import type { Provider, Sandbox } from "../provider.ts";
import { endSandbox } from "./end.ts";
import { findSandbox } from "./find.ts";
import { folderOf, listFolders, readState, removeTrials } from "./folder.ts";
import type { LaunchOptions } from "./launch.ts";
import { readLog } from "./log.ts";
import { createMemoryGuard } from "./memory.ts";
import { createOutlets, type OutletOptions } from "./outlets.ts";
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
  const choose = options.choosePorts ?? choosePorts;
  const given = new Map<string, Ports>();
  const turns = new Map<string, Promise<unknown>>();
  const outlets = createOutlets(options);
  const memory = createMemoryGuard(options.dataDir);
  let trial: Promise<Walls> | null = null;

  /** What is done to one session's sandbox is done one after the other. */
  async function inTurn<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(sessionId) ?? Promise.resolve()).then(work, work);
    turns.set(sessionId, turn);
    try {
      return await turn;
    } finally {
      if (turns.get(sessionId) === turn) turns.delete(sessionId);
    }
  }

  /** One trial at a time, and none after one that worked; what is missing may be installed by the next time. */
  function walls(): Promise<Walls> {
    trial ??= removeTrials(options.dataDir)
      .then(() => findWalls(options))
      .catch((error: unknown) => {
        trial = null;
        throw error;
      });
    return trial;
  }

  /** What isolates the sandboxes that were seen last. */
  const up = new Map<string, readonly Wall[]>();
  async function see(sessionId: string): Promise<void> {
    const { walls = null, polledBytes = null } = (await readState(folder(sessionId))) ?? {};
    if (polledBytes !== null) memory.start();
    if (walls === null) up.delete(sessionId);
    else up.set(sessionId, walls);
  }

  const folder = (sessionId: string) => folderOf(options.dataDir, sessionId);

  async function list(): Promise<Sandbox[]> {
    const found = await Promise.all(
      (await listFolders(options.dataDir)).map(async (sessionId) => {
        await see(sessionId);
        return findSandbox(options, folder(sessionId), sessionId);
      }),
    );
    const sandboxes = found.flatMap((sandbox) => sandbox ?? []);
    // those of a server that was killed: without it they reach nothing
    if (sandboxes.some(({ address }) => address?.unix !== undefined)) await outlets.open();
    return sandboxes;
  }
  const stop = (sessionId: string, graceMs: number) =>
    inTurn(sessionId, async () => {
      await endSandbox(options, folder(sessionId), sessionId, graceMs);
      given.delete(sessionId);
      up.delete(sessionId);
    });

  return {
    name: "local",
    start(spec, watch, signal) {
      return inTurn(spec.sessionId, async () => {
        signal.throwIfAborted();
        const place = { folder: folder(spec.sessionId), walls, outlets, given, choose };
        const sandbox = await startSandbox(options, place, spec, watch, signal);
        await see(spec.sessionId);
        return sandbox;
      });
    },
    find: (sessionId) => findSandbox(options, folder(sessionId), sessionId),
    list,
    save: (spec) =>
      inTurn(spec.sessionId, async () => {
        await outlets.open();
        await saveSandbox(options, folder(spec.sessionId), spec);
      }),
    stop,
    walls: async () => wallsUp(await walls()),
    wallsOf: (sessionId) => up.get(sessionId) ?? null,
    logs: (sessionId, maxBytes) => readLog(folder(sessionId), maxBytes),
    async close() {
      const ended = await Promise.allSettled(
        (await list()).map(({ sessionId }) => stop(sessionId, CLOSE_GRACE_MS)),
      );
      memory.stop();
      outlets.close();
      const failed = ended.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    },
  };
}
