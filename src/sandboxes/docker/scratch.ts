import { type Engine, EngineError } from "./engine.ts";
import { LABEL, type Labels, withLabels } from "./names.ts";
import { removeContainer } from "./run-to-end.ts";

/** Longer than any build: the server that created it ended without removing it. */
const STALE_MS = 45 * 60_000;

/** Removes temporary containers and networks that their server has left behind. @throws SandboxError */
export async function endStaleScratch(engine: Engine, installation: Labels): Promise<void> {
  const filters = withLabels(installation);
  const isScratch = (labels: Labels | undefined) => !labels?.[LABEL.session];
  const isStale = (created: number) => Date.now() - created > STALE_MS;
  const containers = await engine.call("list containers", (docker, abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  );
  for (const { Id, Labels, Created } of containers) {
    if (isScratch(Labels) && isStale(Created * 1000)) await removeContainer(engine, Id);
  }
  const networks = await engine.call("list networks", (docker, abortSignal) =>
    docker.listNetworks({ filters, abortSignal }),
  );
  for (const { Id, Labels, Created } of networks) {
    if (!isScratch(Labels) || !isStale(Date.parse(Created))) continue;
    await engine
      .call("remove a network", (docker, abortSignal) => docker.getNetwork(Id).remove({ abortSignal }))
      .catch((error: unknown) => {
        // a container is still connected, or the network was removed meanwhile
        if (!(error instanceof EngineError)) throw error;
      });
  }
}
