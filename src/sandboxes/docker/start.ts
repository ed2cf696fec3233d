import { randomUUID } from "node:crypto";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import {
  type ProviderOptions,
  type Sandbox,
  SandboxError,
  type SandboxSpec,
  type StartWatch,
} from "../provider.ts";
import { createSandbox } from "./container.ts";
import type { Doors } from "./door.ts";
import { endAll } from "./end.ts";
import { type Engine, EngineError } from "./engine.ts";
import { type ApiPlace, startFence } from "./fence.ts";
import { findSandboxes } from "./find.ts";
import type { Images } from "./images/images.ts";
import { LABEL, type Labels, namesOf } from "./names.ts";
import { createNetwork, type Network } from "./network.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a start works with. */
export interface StartContext {
  engine: Engine;
  options: ProviderOptions;
  images: Images;
  doors: Doors;
  /** What the engine's machine is like, seen through this image. */
  lookAround(image: string): Promise<Surroundings>;
}

/**
 * Starts a sandbox: its network, a fence that owns the network's namespace and sets its rules, and then the sandbox
 * itself, which only joins that namespace and has no right to change it.
 * @throws SandboxError, or the signal's reason; nothing of this start is left then
 */
export async function startSandbox(
  context: StartContext,
  spec: SandboxSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  signal.throwIfAborted();
  const { engine, options, doors } = context;
  const session = { [LABEL.installation]: options.installation, [LABEL.session]: spec.sessionId };
  const start = { ...session, [LABEL.start]: randomUUID() };
  await endAll(engine, session, 0);
  await doors.close(spec.sessionId);
  const labels = { ...start, [LABEL.generation]: String(spec.generation) };
  for (let tries = 1; ; tries++) {
    try {
      return await assemble(context, spec, watch, signal, labels);
    } catch (error) {
      await doors.close(spec.sessionId);
      // what cannot be taken away now is listed as a leftover
      await endAll(engine, start, 0).catch(() => {});
      if (tries === TRIES || !isImageGone(error)) throw error;
    }
  }
}

/** An image that was found may be taken away as an old one before a container uses it; the next try makes it again. */
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
  watch.step("image");
  const image = await images.prepare(spec.build, watch, signal);
  const surroundings = await context.lookAround(image.fence);
  signal.throwIfAborted();

  watch.step("sandbox");
  const network = await createNetwork(engine, names.network, labels);
  signal.throwIfAborted();
  const api = await openDoor(context, spec.sessionId, network);
  const fence = await startFence(
    engine,
    {
      name: names.fence,
      image: image.fence,
      labels: { ...labels, ...api.label },
      network,
      surroundings,
      api: api.place,
      daemonPort: DAEMON_PORT,
    },
    signal,
  );
  const wanted = { name: names.sandbox, image: image.sandbox, labels, fence: fence.id, spec };
  const created = createSandbox(engine, { ...wanted, environment: spec.environment(api.url) }, watch);
  // made while the fence sets its rules; nothing of it runs before they hold
  await Promise.allSettled([created, fence.holds]);
  await fence.holds;
  const container = await created;
  signal.throwIfAborted();
  await engine.ask("start the sandbox", (_, abortSignal) => container.start({ abortSignal }));
  const [found] = await findSandboxes(engine, { ...labels });
  signal.throwIfAborted();
  if (!found) throw new SandboxError("The sandbox was taken away while it started.");
  return found.sandbox;
}

interface OpenDoor {
  url: string;
  place: ApiPlace;
  label: Labels;
}

async function openDoor(
  { engine, options, doors }: StartContext,
  sessionId: string,
  network: Network,
): Promise<OpenDoor> {
  if (options.apiUrl !== null) {
    const { hostname, port, protocol } = new URL(options.apiUrl);
    const place = { hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
    return { url: options.apiUrl, place, label: {} };
  }
  const { isForwarded } = await engine.facts();
  const hostname = isForwarded ? "127.0.0.1" : network.gateway;
  try {
    const { port } = doors.open(sessionId, hostname);
    // Docker Desktop's name for the machine that it runs on
    const place = { hostname: isForwarded ? "host.docker.internal" : hostname, port };
    return {
      url: `http://${place.hostname}:${port}`,
      place,
      label: { [LABEL.door]: `${hostname}:${port}` },
    };
  } catch {
    throw new SandboxError(
      "svc cannot listen where a sandbox of this Docker engine would look for the API. Set SVC_SANDBOX_API_URL to an address that its containers reach the API at.",
      { permanent: true },
    );
  }
}
