import { randomUUID } from "node:crypto";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import {
  type ProviderOptions,
  type Sandbox,
  SandboxError,
  type SandboxSpec,
  type StartWatch,
} from "../provider.ts";
import type { ApiListeners } from "./api-listeners.ts";
import { createSandbox } from "./container.ts";
import { endAll } from "./end.ts";
import { type Engine, EngineError } from "./engine.ts";
import { findSandboxes } from "./find.ts";
import type { HostNetwork } from "./host-network.ts";
import type { Images } from "./images/images.ts";
import { LABEL, type Labels, namesOf } from "./names.ts";
import { createNetwork, type Network } from "./network.ts";
import { type ApiAddress, startNetworkNamespace } from "./network-namespace.ts";
import { endOthersWith, volumeMount } from "./volumes.ts";

/** The dependencies of a start. */
export interface StartContext {
  engine: Engine;
  options: ProviderOptions;
  images: Images;
  apiListeners: ApiListeners;
  /** Reads the network of the engine's machine, in containers of this image. */
  readHostNetwork(image: string): Promise<HostNetwork>;
}

/**
 * Starts a sandbox: its network, a container that owns the network namespace and sets its rules, and then the sandbox
 * itself, which joins that namespace without the right to change it. A start that fails leaves nothing behind.
 * @throws SandboxError, or the signal's reason
 */
export async function startSandbox(
  context: StartContext,
  spec: SandboxSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  signal.throwIfAborted();
  const { engine, options, apiListeners } = context;
  const session = { [LABEL.installation]: options.installation, [LABEL.session]: spec.sessionId };
  const start = { ...session, [LABEL.start]: randomUUID() };
  await endAll(engine, session, 0);
  if (spec.volume) await endOthersWith(engine, options.installation, spec.volume.id);
  await apiListeners.close(spec.sessionId);
  const labels = { ...start, [LABEL.generation]: String(spec.generation) };
  for (let tries = 1; ; tries++) {
    try {
      return await assemble(context, spec, watch, signal, labels);
    } catch (error) {
      await apiListeners.close(spec.sessionId);
      // anything that remains is listed as a leftover
      await endAll(engine, start, 0).catch(() => {});
      if (tries === TRIES || !isImageGone(error)) throw error;
    }
  }
}

/** An image may be pruned before the container uses it; the second attempt rebuilds it. */
const TRIES = 2;

function isImageGone(error: unknown): boolean {
  return error instanceof EngineError && error.status === 404 && /no such image/i.test(error.message);
}

async function assemble(
  context: StartContext,
  spec: SandboxSpec,
  watch: StartWatch,
  signal: AbortSignal,
  labels: Labels,
): Promise<Sandbox> {
  const { engine, images } = context;
  const names = namesOf(context.options.installation, spec.sessionId);
  await watch.step("image");
  const image = await images.prepare(spec, watch, signal);
  const hostNetwork = await context.readHostNetwork(image.netns);
  signal.throwIfAborted();

  await watch.step("sandbox");
  signal.throwIfAborted();
  const network = await createNetwork(engine, names.network, labels);
  signal.throwIfAborted();
  const api = await openApiListener(context, spec.sessionId, network);
  const netns = await startNetworkNamespace(
    engine,
    {
      name: names.netns,
      image: image.netns,
      labels: { ...labels, ...api.label },
      network,
      hostNetwork,
      api: api.address,
      daemonPort: DAEMON_PORT,
    },
    signal,
  );
  const volume = spec.volume ? volumeMount(context.options.installation, spec.volume) : null;
  const wanted = { name: names.sandbox, image: image.sandbox, labels, netns: netns.id, spec, volume };
  const created = createSandbox(engine, { ...wanted, environment: spec.environment(api.url) }, watch);
  // created while the rules are being set, but started only afterwards
  await Promise.allSettled([created, netns.ready]);
  await netns.ready;
  const container = await created;
  signal.throwIfAborted();
  await engine.call("start the sandbox", (_, abortSignal) => container.start({ abortSignal }));
  const [found] = await findSandboxes(engine, { ...labels });
  signal.throwIfAborted();
  if (!found) throw new SandboxError("The sandbox was removed while it started.");
  return found.sandbox;
}

interface ApiAccess {
  url: string;
  address: ApiAddress;
  label: Labels;
}

async function openApiListener(
  { engine, options, apiListeners }: StartContext,
  sessionId: string,
  network: Network,
): Promise<ApiAccess> {
  if (options.apiUrl !== null) {
    const { hostname, port, protocol } = new URL(options.apiUrl);
    const address = { hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
    return { url: options.apiUrl, address, label: {} };
  }
  const { isForwarded } = await engine.properties();
  const hostname = isForwarded ? "127.0.0.1" : network.gateway;
  try {
    const { port } = apiListeners.open(sessionId, hostname);
    // Docker Desktop's name for its host
    const address = { hostname: isForwarded ? "host.docker.internal" : hostname, port };
    return {
      url: `http://${address.hostname}:${port}`,
      address,
      label: { [LABEL.api]: `${hostname}:${port}` },
    };
  } catch {
    throw new SandboxError(
      "svc cannot listen on an address that containers of this Docker engine can reach. Set SVC_SANDBOX_API_URL to a URL at which they reach the API.",
      { permanent: true },
    );
  }
}
