import { SandboxError } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import { LABEL, type Labels, withLabels } from "./names.ts";
import { removeContainer } from "./run-to-end.ts";

/** For a killed container to end, on a busy machine. */
const KILLED_MS = 60_000;
/** A removal in progress takes a moment, and keeps the network in use. */
const POLL_MS = 100;
const GONE_MS = 30_000;

/**
 * Ends everything with these labels: sandboxes get SIGTERM and `graceMs`, then everything is removed.
 * @throws SandboxError when it cannot be ended now
 */
export async function endAll(engine: Engine, labels: Labels, graceMs: number): Promise<void> {
  const filters = withLabels(labels);
  const containers = await engine.call("list containers", (docker, abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  );
  const isSandbox = (container: (typeof containers)[number]) => container.Labels[LABEL.role] === "sandbox";
  // the network namespace last: a sandbox that ends still uses the network
  for (const container of containers.filter(isSandbox)) {
    if (container.State === "running" && graceMs > 0) await stopContainer(engine, container.Id, graceMs);
    await removeContainer(engine, container.Id);
  }
  await Promise.all(
    containers.filter((container) => !isSandbox(container)).map(({ Id }) => removeContainer(engine, Id)),
  );
  const networks = await engine.call("list networks", (docker, abortSignal) =>
    docker.listNetworks({ filters, abortSignal }),
  );
  await Promise.all(networks.map(({ Id }) => removeNetwork(engine, Id)));
  if (containers.length > 0) await waitUntilRemoved(engine, labels);
}

async function stopContainer(engine: Engine, id: string, graceMs: number): Promise<void> {
  try {
    await engine.call(
      "stop a container",
      (docker, abortSignal) => docker.getContainer(id).stop({ t: Math.ceil(graceMs / 1000), abortSignal }),
      { ms: graceMs + KILLED_MS },
    );
  } catch (error) {
    // 304: already ended
    if (!(error instanceof EngineError) || (error.status !== 304 && error.status !== 404)) throw error;
  }
}

async function removeNetwork(engine: Engine, id: string): Promise<void> {
  for (const end = performance.now() + GONE_MS; ; await Bun.sleep(POLL_MS)) {
    try {
      await engine.call("remove a network", (docker, abortSignal) =>
        docker.getNetwork(id).remove({ abortSignal }),
      );
      return;
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return;
      // 403: a container is still connected
      if (!(error instanceof EngineError) || error.status !== 403 || performance.now() > end) throw error;
    }
  }
}

/** Waits for removals in progress. */
async function waitUntilRemoved(engine: Engine, labels: Labels): Promise<void> {
  for (const end = performance.now() + GONE_MS; performance.now() < end; await Bun.sleep(POLL_MS)) {
    const left = await engine.call("list containers", (docker, abortSignal) =>
      docker.listContainers({ all: true, filters: withLabels(labels), abortSignal }),
    );
    if (left.length === 0) return;
  }
  throw new SandboxError("Docker is still removing the sandbox. svc retries this.");
}
