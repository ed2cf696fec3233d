import type { ContainerInfo } from "dockerode";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import type { Sandbox } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import { LABEL, type Labels, namesOf, withLabels } from "./names.ts";

/** A session's sandbox, and where the API was let in for it. */
export interface Found {
  sandbox: Sandbox;
  door: string | null;
}

/**
 * What there is of the sandboxes with these labels, running or ended, with whatever a start that was cut off has left.
 * @throws SandboxError
 */
export async function findSandboxes(engine: Engine, labels: Labels): Promise<Found[]> {
  const filters = withLabels(labels);
  const [containers, networks] = await Promise.all([
    engine.ask("list containers", (docker, abortSignal) =>
      docker.listContainers({ all: true, filters, abortSignal }),
    ),
    engine.ask("list networks", (docker, abortSignal) => docker.listNetworks({ filters, abortSignal })),
  ]);
  const sessions = new Map<string, ContainerInfo[]>();
  for (const { Labels: { [LABEL.session]: id } = {} } of networks) if (id) sessions.set(id, []);
  for (const container of containers) {
    const id = container.Labels[LABEL.session];
    if (id) sessions.set(id, [...(sessions.get(id) ?? []), container]);
  }
  return Promise.all([...sessions].map(([id, parts]) => describe(engine, id, parts)));
}

async function describe(engine: Engine, sessionId: string, parts: readonly ContainerInfo[]): Promise<Found> {
  // by name, which nobody else can have: an image can give its containers any label
  const names = namesOf(parts[0]?.Labels[LABEL.installation] ?? "", sessionId);
  const [sandbox, fence] = [names.sandbox, names.fence].map((name) =>
    parts.find((part) => part.Names.includes(`/${name}`)),
  );
  const generation = Number(
    sandbox?.Labels[LABEL.generation] ?? fence?.Labels[LABEL.generation] ?? Number.NaN,
  );
  const known = { sessionId, generation: Number.isSafeInteger(generation) ? generation : null };
  const address = fence && isUp(fence) && sandbox && isUp(sandbox) ? addressOf(fence) : null;
  if (address) {
    const running = { ...known, address, state: "running", exitCode: null, outOfMemory: false } as const;
    return { sandbox: running, door: fence?.Labels[LABEL.door] ?? null };
  }
  // without its fence a sandbox has no network, and nobody will hear of it again
  const end = sandbox && !isUp(sandbox) ? await endOf(engine, sandbox.Id) : UNKNOWN_END;
  return { sandbox: { ...known, address: null, state: "ended", ...end }, door: null };
}

function isUp({ State }: ContainerInfo): boolean {
  return State === "running" || State === "paused" || State === "restarting";
}

/** A published port, where there is one, is the only way in; else the fence's own address. */
function addressOf(fence: ContainerInfo): Sandbox["address"] {
  const published = fence.Ports.find(
    ({ PrivatePort, PublicPort }) => PrivatePort === DAEMON_PORT && PublicPort,
  );
  if (published) return { hostname: "127.0.0.1", port: published.PublicPort };
  const [network] = Object.values(fence.NetworkSettings.Networks);
  return network?.IPAddress ? { hostname: network.IPAddress, port: DAEMON_PORT } : null;
}

type End = Pick<Sandbox, "exitCode" | "outOfMemory">;
const UNKNOWN_END: End = { exitCode: null, outOfMemory: false };

async function endOf(engine: Engine, id: string): Promise<End> {
  try {
    const { State } = await engine.ask("describe a container", (docker, abortSignal) =>
      docker.getContainer(id).inspect({ abortSignal }),
    );
    if (State.Status !== "exited") return UNKNOWN_END;
    return { exitCode: State.ExitCode, outOfMemory: State.OOMKilled };
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return UNKNOWN_END;
    throw error;
  }
}
