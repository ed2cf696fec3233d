import { accessSync, constants, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type ProviderOptions, SandboxError, type SandboxSpec, type StartWatch } from "../provider.ts";
import { findPlugins, findRuntime } from "../runtime/find.ts";
import { behindWalls, INSIDE, prepareFolder } from "./bubblewrap.ts";
import { cgroupsNamed, makeCgroups } from "./cgroup.ts";
import { markOf } from "./end.ts";
import { environmentOf } from "./environment.ts";
import { type Folder, makeFolder, writeCgroups, writeState } from "./folder.ts";
import type { Ports } from "./ports.ts";
import { processAt } from "./processes.ts";
import { supervise } from "./supervise.ts";
import { type Walls, wallsUp } from "./walls.ts";

export interface LaunchOptions extends ProviderOptions {
  /** Seconds after which a sandbox whose server does not answer saves its work and ends. */
  orphanS: number;
}

/** Makes a sandbox's folder and starts its processes. */
export async function launch(
  options: LaunchOptions,
  place: { folder: Folder; walls: Walls },
  spec: SandboxSpec,
  ports: Ports,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<void> {
  const { folder } = place;
  const { command, environment, directory } = await prepare(options, place, spec, ports, watch);
  signal.throwIfAborted();
  const cgroups = place.walls?.cgroups ?? null;
  if (cgroups !== null) {
    const name = `svc-${options.installation}-${spec.sessionId}`;
    await writeCgroups(folder, cgroupsNamed(cgroups, name));
    await makeCgroups(cgroups, name, spec.limits);
  }
  const child = supervise(folder, command, environment, directory);
  const first = await processAt(child.pid);
  if (!first) throw new SandboxError("The sandbox ended as it started.");
  await writeState(folder, {
    installation: options.installation,
    generation: spec.generation,
    pid: first.pid,
    started: first.started,
    port: ports.daemon,
    runtimePort: ports.runtime,
    walls: wallsUp(place.walls),
    polledBytes: place.walls?.cgroups === null ? spec.limits.memoryBytes : null,
  });
}

/**
 * Lays out a sandbox's folder.
 * @returns the daemon's command as it is run on this machine
 */
export async function prepare(
  options: LaunchOptions,
  { folder, walls }: { folder: Folder; walls: Walls },
  spec: Pick<SandboxSpec, "sessionId" | "hasRuntime" | "limits" | "environment">,
  ports: Ports,
  watch: Pick<StartWatch, "log">,
  verb: readonly string[] = [],
): Promise<{ command: string[]; environment: Record<string, string>; directory: string }> {
  const programs = findPrograms(options, watch);
  const found = spec.hasRuntime ? findRuntime(options) : null;
  const plugins = spec.hasRuntime ? findPlugins(options) : null;
  const isWalled = walls !== null;
  const runtime = isWalled && found !== null ? `${INSIDE.runtime}/${basename(found)}` : found;
  const where = {
    folder,
    isWalled,
    runtime,
    plugins: isWalled ? INSIDE.plugins : plugins,
    mark: markOf(options, spec.sessionId),
  };
  const environment = environmentOf(options, spec, where, ports);
  await makeFolder(folder);
  if (walls === null) {
    for (const [name, program] of Object.entries({ "svc-agent": programs.agent, svc: programs.svc })) {
      rmSync(join(folder.bin, name), { force: true });
      if (program !== null) symlinkSync(program, join(folder.bin, name));
    }
    return { command: [programs.agent, ...verb], environment, directory: folder.workspace };
  }
  await prepareFolder(folder);
  const inside = { [`${INSIDE.bin}/svc-agent`]: programs.agent };
  if (runtime !== null && found !== null) inside[runtime] = found;
  if (plugins !== null) inside[INSIDE.plugins] = plugins;
  if (programs.svc) inside[`${INSIDE.bin}/svc`] = programs.svc;
  const agent = [`${INSIDE.bin}/svc-agent`, ...verb];
  const command = behindWalls(walls, folder, inside, spec.limits.processes, agent);
  return { command, environment, directory: "/" };
}

/** Programs of svc that are found in a sandbox. */
function findPrograms(
  { binaries }: ProviderOptions,
  watch: Pick<StartWatch, "log">,
): { agent: string; svc: string | null } {
  const [agent, svc] = [join(binaries, "svc-agent"), join(binaries, "svc")];
  if (!isThere(agent)) {
    throw new SandboxError(
      "svc-agent, which every sandbox needs, is missing beside the server's program. Reinstall svc.",
      { permanent: true },
    );
  }
  if (isThere(svc)) return { agent, svc };
  watch.log(
    "svc",
    "Warning: the svc command is missing beside the server's program, so the agent cannot use it.",
  );
  return { agent, svc: null };
}

function isThere(program: string): boolean {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
