import type { ContainerInfo } from "dockerode";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import type { Sandbox } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import { LABEL, type Labels, namesOf, withLabels } from "./names.ts";

/** A session's sandbox, and the `address:port` of its API listener and of its egress proxy. */
export interface Found {
  sandbox: Sandbox;
  api: string | null;
  proxy: string | null;
}

/**
 * Finds the sandboxes with these labels, running or ended, including the leftovers of interrupted starts.
 * @throws SandboxError
 */
export async function findSandboxes(engine: Engine, labels: Labels): Promise<Found[]> {
  const filters = withLabels(labels);
  const [containers, networks] = await Promise.all([
    engine.call("list containers", (docker, abortSignal) =>
      docker.listContainers({ all: true, filters, abortSignal }),
    ),
    engine.call("list networks", (docker, abortSignal) => docker.listNetworks({ filters, abortSignal })),
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
  // by name, which is unique: an image can give its containers any label
  const names = namesOf(parts[0]?.Labels[LABEL.installation] ?? "", sessionId);
  const [sandbox, netns] = [names.sandbox, names.netns].map((name) =>
    parts.find((part) => part.Names.includes(`/${name}`)),
  );
  const generation = Number(
    sandbox?.Labels[LABEL.generation] ?? netns?.Labels[LABEL.generation] ?? Number.NaN,
  );
  const known = { sessionId, generation: Number.isSafeInteger(generation) ? generation : null };
  const address = netns && isUp(netns) && sandbox && isUp(sandbox) ? addressOf(netns) : null;
  if (address) {
    const running = { ...known, address, state: "running", exitCode: null, outOfMemory: false } as const;
    const { [LABEL.api]: api = null, [LABEL.proxy]: proxy = null } = netns?.Labels ?? {};
    return { sandbox: running, api, proxy };
  }
  // without its network namespace a sandbox is unreachable, and counts as ended
  const end = sandbox && !isUp(sandbox) ? await endOf(engine, sandbox.Id) : UNKNOWN_END;
  return { sandbox: { ...known, address: null, state: "ended", ...end }, api: null, proxy: null };
}

function isUp({ State }: ContainerInfo): boolean {
  return State === "running" || State === "paused" || State === "restarting";
}

/** The published port, if there is one; else the address of the network namespace. */
function addressOf(netns: ContainerInfo): Sandbox["address"] {
  const published = netns.Ports.find(
    ({ PrivatePort, PublicPort }) => PrivatePort === DAEMON_PORT && PublicPort,
  );
  if (published) return { hostname: "127.0.0.1", port: published.PublicPort };
  const [network] = Object.values(netns.NetworkSettings.Networks);
  return network?.IPAddress ? { hostname: network.IPAddress, port: DAEMON_PORT } : null;
}

type End = Pick<Sandbox, "exitCode" | "outOfMemory">;
const UNKNOWN_END: End = { exitCode: null, outOfMemory: false };

async function endOf(engine: Engine, id: string): Promise<End> {
  try {
    const { State } = await engine.call("describe a container", (docker, abortSignal) =>
      docker.getContainer(id).inspect({ abortSignal }),
    );
    if (State.Status !== "exited") return UNKNOWN_END;
    return { exitCode: State.ExitCode, outOfMemory: State.OOMKilled };
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return UNKNOWN_END;
    throw error;
  }
}
