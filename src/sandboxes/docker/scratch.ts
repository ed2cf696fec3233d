import { type Engine, EngineError } from "./engine.ts";
import { LABEL, type Labels, withLabels } from "./names.ts";
import { removeContainer } from "./run-to-end.ts";

/** Longer than any build may take: whoever made it has ended without taking it away. */
const STALE_MS = 45 * 60_000;

/** Takes away what was there to prepare something, and has outlived the server that made it. @throws SandboxError */
export async function endStaleScratch(engine: Engine, installation: Labels): Promise<void> {
  const filters = withLabels(installation);
  const isScratch = (labels: Labels | undefined) => !labels?.[LABEL.session];
  const isStale = (created: number) => Date.now() - created > STALE_MS;
  const containers = await engine.ask("list containers", (docker, abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  );
  for (const { Id, Labels, Created } of containers) {
    if (isScratch(Labels) && isStale(Created * 1000)) await removeContainer(engine, Id);
  }
  const networks = await engine.ask("list networks", (docker, abortSignal) =>
    docker.listNetworks({ filters, abortSignal }),
  );
  for (const { Id, Labels, Created } of networks) {
    if (!isScratch(Labels) || !isStale(Date.parse(Created))) continue;
    await engine
      .ask("remove a network", (docker, abortSignal) => docker.getNetwork(Id).remove({ abortSignal }))
      .catch((error: unknown) => {
        // a container is still leaving it, or somebody else was quicker
        if (!(error instanceof EngineError)) throw error;
      });
  }
}
