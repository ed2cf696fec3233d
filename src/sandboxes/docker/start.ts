import { randomUUID } from "node:crypto";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { withProxy } from "../egress/environment.ts";
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
import { createNetwork, machineIn, type Network } from "./network.ts";
import { type ApiAddress, startNetworkNamespace } from "./network-namespace.ts";
import type { ProxyListeners } from "./proxy-listeners.ts";
import type { Runtime } from "./runtime.ts";
import { fetchServices, serviceName, startServices } from "./services.ts";
import { endOthersWith, volumeMount } from "./volumes.ts";

/** The dependencies of a start. */
export interface StartContext {
  engine: Engine;
  options: ProviderOptions;
  images: Images;
  apiListeners: ApiListeners;
  proxyListeners: ProxyListeners;
  /** Reads the network of the engine's machine, in containers of this image. */
  readHostNetwork(image: string): Promise<HostNetwork>;
  runtime: Runtime;
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
  const { engine, options } = context;
  const closeListeners = async () => {
    await context.apiListeners.close(spec.sessionId);
    await context.proxyListeners.close(spec.sessionId);
  };
  const session = { [LABEL.installation]: options.installation, [LABEL.session]: spec.sessionId };
  const start = { ...session, [LABEL.start]: randomUUID() };
  await endAll(engine, session, 0);
  if (spec.volume) await endOthersWith(engine, options.installation, spec.volume.id);
  await closeListeners();
  const labels = { ...start, [LABEL.generation]: String(spec.generation) };
  for (let tries = 1; ; tries++) {
    try {
      return await assemble(context, spec, watch, signal, labels);
    } catch (error) {
      await closeListeners();
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
  const services = spec.services ?? [];
  const image = await images.prepare(spec, watch, signal);
  await fetchServices(engine, services, watch, signal);
  const hostNetwork = await context.readHostNetwork(image.netns);
  const runtime = await unlessAborted(context.runtime.find(image.netns), signal);
  signal.throwIfAborted();

  await watch.step("sandbox");
  signal.throwIfAborted();
  const network = await createNetwork(engine, names.network, labels);
  signal.throwIfAborted();
  const api = await openApiListener(context, spec.sessionId, network);
  const proxy = await openProxy(context, spec, network);
  const netns = await startNetworkNamespace(
    engine,
    {
      name: names.netns,
      image: image.netns,
      labels: { ...labels, ...api.label, ...proxy?.label },
      network,
      hostNetwork,
      hosts: services.map(serviceName),
      api: api.address,
      proxy: proxy?.address ?? null,
      daemonPort: DAEMON_PORT,
    },
    signal,
  );
  const volume = spec.volume ? volumeMount(context.options.installation, spec.volume) : null;
  const wanted = {
    ...{ name: names.sandbox, image: image.sandbox, labels, netns: netns.id },
    ...{ spec, volume, runtime },
  };
  const given = spec.environment(api.url);
  const environment = proxy ? withProxy(given, proxy.url, [proxy.address.hostname]) : given;
  const created = createSandbox(engine, { ...wanted, environment }, watch);
  // created while the rules are being set, but started only afterwards
  await Promise.allSettled([created, netns.ready]);
  await netns.ready;
  const container = await created;
  signal.throwIfAborted();
  const beside = { images: services, name: names.sandbox, labels, netns: netns.id, runtime };
  await startServices(engine, beside, watch, signal);
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
  const { hostname, inside } = await machineIn(engine, network);
  try {
    const { port } = await apiListeners.open(sessionId, hostname);
    const address = { hostname: inside, port };
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

/** Opens the proxy of a sandbox that is not open; null: it needs none. @throws SandboxError */
async function openProxy(
  { engine, proxyListeners }: StartContext,
  { sessionId, egress }: Pick<SandboxSpec, "sessionId" | "egress">,
  network: Network,
): Promise<{ address: ApiAddress; label: Labels; url: string } | null> {
  if (egress === "open") return null;
  const { hostname, inside } = await machineIn(engine, network);
  try {
    const { port } = await proxyListeners.open(sessionId, hostname);
    return {
      address: { hostname: inside, port },
      label: { [LABEL.proxy]: `${hostname}:${port}` },
      url: `http://${inside}:${port}`,
    };
  } catch {
    throw new SandboxError(
      `The project's network policy is "${egress}", but svc cannot listen on an address that containers of this Docker engine can reach, for the proxy that enforces it.`,
      { permanent: true },
    );
  }
}
