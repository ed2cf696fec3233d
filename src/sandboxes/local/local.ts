import type { Provider, ProviderOptions, Sandbox } from "../provider.ts";
import type { Tools } from "./bubblewrap.ts";
import { endSandbox } from "./end.ts";
import { findSandbox } from "./find.ts";
import { folderOf, listFolders } from "./folder.ts";
import { readLog } from "./log.ts";
import { choosePorts, type Ports } from "./ports.ts";
import { startSandbox } from "./start.ts";
import { findWalls, type Walls } from "./walls.ts";

/** When the server ends in good order, each sandbox has as long to save its work. */
const CLOSE_GRACE_MS = 5_000;

export interface LocalOptions extends ProviderOptions {
  /** Without bubblewrap even where it is installed; for tests, like the next. */
  plain?: boolean;
  choosePorts?: typeof choosePorts;
}

/**
 * Runs sandboxes as processes of this machine: behind bubblewrap's walls where that works, otherwise as plain processes
 * of the server's user, which is said in each session's log.
 */
export function createLocalProvider(options: LocalOptions): Provider {
  const choose = options.choosePorts ?? choosePorts;
  const given = new Map<string, Ports>();
  const turns = new Map<string, Promise<unknown>>();
  let tools: Tools | null = null;

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

  /** What is missing may be installed by the next time. */
  async function walls(): Promise<Walls> {
    if (tools) return { tools };
    const found = await findWalls(options);
    if ("tools" in found) tools = found.tools;
    return found;
  }

  const folder = (sessionId: string) => folderOf(options.dataDir, sessionId);

  async function list(): Promise<Sandbox[]> {
    const found = await Promise.all(
      (await listFolders(options.dataDir)).map((sessionId) =>
        findSandbox(options, folder(sessionId), sessionId),
      ),
    );
    return found.flatMap((sandbox) => sandbox ?? []);
  }
  const stop = (sessionId: string, graceMs: number) =>
    inTurn(sessionId, async () => {
      await endSandbox(options, folder(sessionId), sessionId, graceMs);
      given.delete(sessionId);
    });

  return {
    name: "local",
    start(spec, watch, signal) {
      return inTurn(spec.sessionId, async () => {
        signal.throwIfAborted();
        const place = { folder: folder(spec.sessionId), walls, given, choose };
        return startSandbox(options, place, spec, watch, signal);
      });
    },
    find: (sessionId) => findSandbox(options, folder(sessionId), sessionId),
    list,
    stop,
    logs: (sessionId, maxBytes) => readLog(folder(sessionId), maxBytes),
    async close() {
      const ended = await Promise.allSettled(
        (await list()).map(({ sessionId }) => stop(sessionId, CLOSE_GRACE_MS)),
      );
      const failed = ended.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    },
  };
}
