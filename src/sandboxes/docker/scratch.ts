import { type Engine, EngineError } from "./engine.ts";
import { LABEL, type Labels, withLabels } from "./names.ts";
import { removeContainer } from "./run-to-end.ts";

/** Longer than any build: the server that created it ended without removing it. */
const STALE_MS = 150 * 60_000;

/**
 * Removes temporary containers and networks that their server has left behind, once this server has seen them for longer
 * than any build takes. (Their times of creation are by a clock that may be set.)
 * @returns one round. @throws SandboxError
 */
export function createScratchRounds(engine: Engine, installation: Labels): () => Promise<void> {
  let seen = new Map<string, number>();
  return async () => {
    const now = performance.now();
    const next = new Map<string, number>();
    await endStaleScratch(engine, installation, (id) => {
      const since = seen.get(id) ?? now;
      next.set(id, since);
      return now - since > STALE_MS;
    });
    seen = next;
  };
}

async function endStaleScratch(
  engine: Engine,
  installation: Labels,
  isStale: (id: string) => boolean,
): Promise<void> {
  const filters = withLabels(installation);
  const isScratch = (labels: Labels | undefined) => !labels?.[LABEL.session];
  const containers = await engine.call("list containers", (docker, abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  );
  for (const { Id, Labels } of containers) {
    if (isScratch(Labels) && isStale(Id)) await removeContainer(engine, Id);
  }
  const networks = await engine.call("list networks", (docker, abortSignal) =>
    docker.listNetworks({ filters, abortSignal }),
  );
  for (const { Id, Labels } of networks) {
    if (!isScratch(Labels) || !isStale(Id)) continue;
    await engine
      .call("remove a network", (docker, abortSignal) => docker.getNetwork(Id).remove({ abortSignal }))
      .catch((error: unknown) => {
        // a container is still connected, or the network was removed meanwhile
        if (!(error instanceof EngineError)) throw error;
      });
  }
}
