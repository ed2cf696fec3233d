import { accessSync, constants, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type ProviderOptions, SandboxError, type SandboxSpec, type StartWatch } from "../provider.ts";
import { findPlugins, findRuntime } from "../runtime/find.ts";
import { behindWalls, INSIDE, prepareFolder } from "./bubblewrap.ts";
import { markOf } from "./end.ts";
import { environmentOf } from "./environment.ts";
import { type Folder, makeFolder, writeState } from "./folder.ts";
import type { Ports } from "./ports.ts";
import { processAt } from "./processes.ts";
import { supervise } from "./supervise.ts";
import { type Walls, wallsUp } from "./walls.ts";

/** Makes a sandbox's folder and starts its processes. */
export async function launch(
  options: ProviderOptions,
  { folder, walls }: { folder: Folder; walls: Walls },
  spec: SandboxSpec,
  ports: Ports,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<void> {
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
  let command = [programs.agent];
  if (isWalled) {
    await prepareFolder(folder);
    const inside = { [`${INSIDE.bin}/svc-agent`]: programs.agent };
    if (runtime !== null && found !== null) inside[runtime] = found;
    if (plugins !== null) inside[INSIDE.plugins] = plugins;
    if (programs.svc) inside[`${INSIDE.bin}/svc`] = programs.svc;
    const agent = [`${INSIDE.bin}/svc-agent`];
    command = behindWalls(walls, folder, inside, spec.limits.processes, agent);
  } else {
    symlinkSync(programs.agent, join(folder.bin, "svc-agent"));
    if (programs.svc) symlinkSync(programs.svc, join(folder.bin, "svc"));
  }
  signal.throwIfAborted();
  const child = supervise(folder, command, environment, isWalled ? "/" : folder.workspace);
  const first = await processAt(child.pid);
  if (!first) throw new SandboxError("The sandbox ended as it started.");
  await writeState(folder, {
    installation: options.installation,
    generation: spec.generation,
    pid: first.pid,
    started: first.started,
    port: ports.daemon,
    runtimePort: ports.runtime,
    walls: wallsUp(walls),
  });
}

/** Programs of svc that are found in a sandbox. */
function findPrograms(
  { binaries }: ProviderOptions,
  watch: StartWatch,
): { agent: string; svc: string | null } {
  const [agent, svc] = [join(binaries, "svc-agent"), join(binaries, "svc")];
  if (!isThere(agent)) {
    throw new SandboxError(
      "svc-agent, which every sandbox starts with, is not beside the server's own program: install svc anew.",
      { permanent: true },
    );
  }
  if (isThere(svc)) return { agent, svc };
  watch.log("svc", "Warning: the svc command is not beside the server's own program, so the agent has none.");
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
