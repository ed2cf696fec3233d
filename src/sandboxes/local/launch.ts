import { accessSync, constants, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type ProviderOptions, SandboxError, type SandboxSpec, type StartWatch } from "../provider.ts";
import { findFilesFor, findPlugins } from "../runtime/find.ts";
import { bubblewrapCommand, INSIDE, prepareFolder } from "./bubblewrap.ts";
import { cgroupsNamed, createCgroups } from "./cgroup.ts";
import { markOf } from "./end.ts";
import { environmentOf } from "./environment.ts";
import { createFolder, type Folder, writeCgroups, writeState } from "./folder.ts";
import { type Isolation, wallsOf } from "./isolation.ts";
import type { Ports } from "./ports.ts";
import { processAt } from "./processes.ts";
import { supervise } from "./supervise.ts";
import { createVolume } from "./volumes.ts";

export interface LaunchOptions extends ProviderOptions {
  /** Seconds without a response of the server after which a sandbox saves its work and ends. */
  orphanS: number;
}

/** Creates a sandbox's folder and starts its processes. */
export async function launch(
  options: LaunchOptions,
  layout: { folder: Folder; isolation: Isolation },
  spec: SandboxSpec,
  ports: Ports,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<void> {
  const { folder } = layout;
  const { command, environment, directory } = await prepare(options, layout, spec, ports, watch);
  signal.throwIfAborted();
  const cgroups = layout.isolation?.cgroups ?? null;
  if (cgroups !== null) {
    const name = `svc-${options.installation}-${spec.sessionId}`;
    await writeCgroups(folder, cgroupsNamed(cgroups, name));
    await createCgroups(cgroups, name, spec.limits);
  }
  const child = supervise(folder, command, environment, directory);
  const supervisor = await processAt(child.pid);
  if (!supervisor) throw new SandboxError("The sandbox ended during its start.");
  await writeState(folder, {
    installation: options.installation,
    generation: spec.generation,
    pid: supervisor.pid,
    started: supervisor.started,
    port: ports.daemon,
    runtimePort: ports.runtime,
    walls: wallsOf(layout.isolation),
    volume: spec.volume?.id ?? null,
    polledBytes: layout.isolation?.cgroups === null ? spec.limits.memoryBytes : null,
  });
}

/**
 * Creates a sandbox's folder.
 * @returns the daemon's command on this machine
 */
export async function prepare(
  options: LaunchOptions,
  { folder, isolation }: { folder: Folder; isolation: Isolation },
  spec: Pick<SandboxSpec, "sessionId" | "runtime" | "limits" | "environment" | "volume">,
  ports: Ports,
  watch: Pick<StartWatch, "log">,
  verb: readonly string[] = [],
): Promise<{ command: string[]; environment: Record<string, string>; directory: string }> {
  const programs = findPrograms(options, watch);
  const found = spec.runtime && findFilesFor(options, spec.runtime);
  const plugins = spec.runtime && findPlugins(options);
  const isIsolated = isolation !== null;
  const mounted = found && `${INSIDE.runtime}/${basename(found.path)}`;
  const runtime = found && join(mounted !== null && isIsolated ? mounted : found.path, found.program);
  const { volume } = spec;
  const store = volume ? await createVolume(options.dataDir, volume.id, isIsolated) : null;
  const bind = volume && store !== null ? { folder: store, path: volume.path } : null;
  const paths = {
    ...{ folder, isIsolated, runtime, plugins: isIsolated ? INSIDE.plugins : plugins },
    volume: isIsolated ? (bind?.path ?? null) : store,
  };
  const environment = environmentOf(options, spec, paths, markOf(options, spec.sessionId), ports);
  await createFolder(folder);
  if (isolation === null) {
    for (const [name, program] of Object.entries({ "svc-agent": programs.agent, svc: programs.svc })) {
      rmSync(join(folder.bin, name), { force: true });
      if (program !== null) symlinkSync(program, join(folder.bin, name));
    }
    return { command: [programs.agent, ...verb], environment, directory: folder.workspace };
  }
  await prepareFolder(folder);
  const inside = { [`${INSIDE.bin}/svc-agent`]: programs.agent };
  if (mounted && found) inside[mounted] = found.path;
  if (plugins !== null) inside[INSIDE.plugins] = plugins;
  if (programs.svc) inside[`${INSIDE.bin}/svc`] = programs.svc;
  const agent = [`${INSIDE.bin}/svc-agent`, ...verb];
  const command = bubblewrapCommand(isolation, folder, inside, bind, spec.limits.processes, agent);
  return { command, environment, directory: "/" };
}

/** Finds the programs of svc that a sandbox uses. */
function findPrograms(
  { binaries }: ProviderOptions,
  watch: Pick<StartWatch, "log">,
): { agent: string; svc: string | null } {
  const [agent, svc] = [join(binaries, "svc-agent"), join(binaries, "svc")];
  if (!isExecutable(agent)) {
    throw new SandboxError(
      "The program svc-agent, which every sandbox needs, is not in the folder of the server's program. Reinstall svc.",
      { permanent: true },
    );
  }
  if (isExecutable(svc)) return { agent, svc };
  watch.log(
    "svc",
    "Warning: the svc command is not in the folder of the server's program, so the agent cannot use it.",
  );
  return { agent, svc: null };
}

function isExecutable(program: string): boolean {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
