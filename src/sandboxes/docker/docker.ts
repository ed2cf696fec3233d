import { WALLS } from "../../contract/session.ts";
import type { Provider, ProviderOptions, Sandbox } from "../provider.ts";
import { createDoors } from "./door.ts";
import { endAll } from "./end.ts";
import { EngineError, openEngine } from "./engine.ts";
import { type Found, findSandboxes } from "./find.ts";
import { createImages } from "./images/images.ts";
import { LABEL, withLabels } from "./names.ts";
import { outputOf } from "./output.ts";
import { endStaleScratch } from "./scratch.ts";
import { type StartContext, startSandbox } from "./start.ts";
import { createLookout } from "./surroundings.ts";

/** More lines than this are cut off before bytes are counted; it is more than the log of a sandbox can hold. */
const LINES_MAX = 100_000;

/** A disk limit depends on the engine's storage; the session's log says whether it holds. */
const CONTAINER_WALLS = WALLS.filter((wall) => wall !== "disk_limit");

/** Sandboxes as containers of the Docker engine at DOCKER_HOST, or at the usual socket; it is met at the first call. */
export function createDockerProvider(options: ProviderOptions): Provider {
  const own = { [LABEL.installation]: options.installation };
  const ofSession = (sessionId: string) => ({ ...own, [LABEL.session]: sessionId });
  const engine = openEngine();
  const doors = createDoors(options.api);
  const lookAround = createLookout(engine, own);
  const images = createImages({ engine, options, lookAround });
  const context: StartContext = { engine, options, doors, images, lookAround };

  return {
    name: "docker",
    start: (spec, watch, signal) => startSandbox(context, spec, watch, signal),
    async find(sessionId) {
      const [found] = await findSandboxes(engine, ofSession(sessionId));
      return found ? entered(found) : null;
    },
    async list() {
      await endStaleScratch(engine, own);
      return (await findSandboxes(engine, own)).map(entered);
    },
    async stop(sessionId, graceMs) {
      await endAll(engine, ofSession(sessionId), graceMs);
      await doors.close(sessionId);
    },
    walls: async () => CONTAINER_WALLS,
    wallsOf: () => CONTAINER_WALLS,
    async logs(sessionId, maxBytes) {
      const filters = { ...ofSession(sessionId), [LABEL.role]: "sandbox" };
      const [container] = await engine.ask("find the sandbox", (docker, abortSignal) =>
        docker.listContainers({ all: true, filters: withLabels(filters), abortSignal }),
      );
      return container ? await readLogs(container.Id, maxBytes) : new Uint8Array();
    },
    close: () => doors.closeAll(),
  };

  /** A server that was ended has left the doors of its sandboxes closed; whoever sees one that runs opens it. */
  function entered({ sandbox, door }: Found): Sandbox {
    if (door !== null) doors.reopen(sandbox.sessionId, door);
    return sandbox;
  }

  async function readLogs(id: string, maxBytes: number): Promise<Uint8Array> {
    try {
      const framed = await engine.ask("read the sandbox's log", (docker, abortSignal) =>
        docker
          .getContainer(id)
          .logs({ stdout: true, stderr: true, follow: false, tail: LINES_MAX, abortSignal }),
      );
      return outputOf(framed, maxBytes);
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return new Uint8Array();
      throw error;
    }
  }
}
