import { WALLS } from "../../contract/session.ts";
import type { Provider, ProviderOptions, Sandbox } from "../provider.ts";
import { createApiListeners } from "./api-listeners.ts";
import { endAll } from "./end.ts";
import { EngineError, openEngine } from "./engine.ts";
import { type Found, findSandboxes } from "./find.ts";
import { createHostNetworkReader } from "./host-network.ts";
import { createImages } from "./images/images.ts";
import { LABEL, withLabels } from "./names.ts";
import { outputOf } from "./output.ts";
import { probeWalls } from "./probe-walls.ts";
import { createProxyListeners } from "./proxy-listeners.ts";
import { createRuntime } from "./runtime.ts";
import { createScratchRounds } from "./scratch.ts";
import { type StartContext, startSandbox } from "./start.ts";
import { dockerVolumes } from "./volumes.ts";

/** More lines than a sandbox's log can have. */
const LINES_MAX = 100_000;

/** Whether there is a disk limit depends on the engine's storage driver; see the session's log. */
/** What isolates every container. */
export const CONTAINER_WALLS = WALLS.filter((wall) => wall !== "disk_limit");

/**
 * Sandboxes as containers of the Docker engine of this machine. Connects on the first call.
 * @param runtimeName `SVC_DOCKER_RUNTIME`; null: the engine's default
 */
export function createDockerProvider(options: ProviderOptions, runtimeName: string | null = null): Provider {
  const own = { [LABEL.installation]: options.installation };
  const ofSession = (sessionId: string) => ({ ...own, [LABEL.session]: sessionId });
  const engine = openEngine();
  const apiListeners = createApiListeners(options.api);
  const proxyListeners = createProxyListeners(options);
  const readHostNetwork = createHostNetworkReader(engine, own);
  const endStaleScratch = createScratchRounds(engine, own);
  const images = createImages({ engine, options, readHostNetwork });
  const probing = { engine, installation: options.installation, readHostNetwork };
  const runtime = createRuntime(engine, runtimeName, (name, image) => probeWalls(probing, name, image));
  const context: StartContext = {
    ...{ engine, options, apiListeners, proxyListeners, images, readHostNetwork, runtime },
  };

  return {
    name: "docker",
    volumes: dockerVolumes(engine, options.installation),
    start: (spec, watch, signal) => startSandbox(context, spec, watch, signal),
    async find(sessionId) {
      const [found] = await findSandboxes(engine, ofSession(sessionId));
      return found ? withListeners(found) : null;
    },
    async list() {
      await endStaleScratch();
      return (await findSandboxes(engine, own)).map(withListeners);
    },
    async stop(sessionId, graceMs) {
      await endAll(engine, ofSession(sessionId), graceMs);
      await apiListeners.close(sessionId);
      await proxyListeners.close(sessionId);
    },
    async walls() {
      await runtime.find(await images.netns());
      return CONTAINER_WALLS;
    },
    wallsOf: () => CONTAINER_WALLS,
    async describe() {
      const { url, source } = (await engine.properties()).endpoint;
      return { engine: url, engineFrom: source, ...(runtimeName !== null && { runtime: runtimeName }) };
    },
    async logs(sessionId, maxBytes) {
      const filters = { ...ofSession(sessionId), [LABEL.role]: "sandbox" };
      const [container] = await engine.call("find the sandbox", (docker, abortSignal) =>
        docker.listContainers({ all: true, filters: withLabels(filters), abortSignal }),
      );
      return container ? await readLogs(container.Id, maxBytes) : new Uint8Array();
    },
    async close() {
      await Promise.all([apiListeners.closeAll(), proxyListeners.closeAll()]);
    },
  };

  /** Reopens the listeners of a running sandbox after a restart of the server. */
  function withListeners({ sandbox, api, proxy }: Found): Sandbox {
    if (api !== null) apiListeners.reopen(sandbox.sessionId, api);
    if (proxy !== null) proxyListeners.reopen(sandbox.sessionId, proxy);
    return sandbox;
  }

  async function readLogs(id: string, maxBytes: number): Promise<Uint8Array> {
    try {
      const framed = await engine.call("read the sandbox's log", (docker, abortSignal) =>
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
