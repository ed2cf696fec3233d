import type { Container, HostConfig, MountSettings } from "dockerode";
import type { SandboxLimits, SandboxSpec, StartWatch } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import type { SandboxImage } from "./images/images.ts";
import { LABEL, type Labels } from "./names.ts";

interface ContainerSpec {
  name: string;
  image: SandboxImage;
  labels: Labels;
  /** The container whose network namespace it joins. */
  netns: string;
  spec: SandboxSpec;
  environment: Readonly<Record<string, string>>;
  /** The mount of its volume; null: it has none. */
  volume: MountSettings | null;
  runtime: string | null;
}

/**
 * The only capabilities of the daemon: to run the agent as another user (SETUID, SETGID), to end that user's processes
 * (KILL), to change the owner of the clone (CHOWN), and to remove that user's files (DAC_OVERRIDE, FOWNER).
 */
export const CAPABILITIES = ["SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"];

/** Variables of an image that could inject code into svc's programs; a name without `=` unsets the variable. */
const UNSET = ["BUN_OPTIONS", "BUN_BE_BUN", "BUN_INSPECT", "NODE_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH"];

/** Engines whose storage driver cannot limit a container's disk. */
const WITHOUT_QUOTAS = new WeakSet<Engine>();

/**
 * Creates the sandbox's container, without starting it. The session's log names limits that the engine cannot enforce.
 * @throws SandboxError
 */
export async function createSandbox(
  engine: Engine,
  { name, image, labels, netns, spec, environment, volume, runtime }: ContainerSpec,
  watch: StartWatch,
): Promise<Container> {
  const create = (withDisk: boolean) =>
    engine.call("create the sandbox's container", (docker, abortSignal) =>
      docker.createContainer({
        name,
        Image: image.id,
        User: "0:0",
        Env: [
          ...UNSET,
          ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
          `SVC_RUNTIME_USER=${image.runtimeUser}`,
          ...(image.agent === null ? [] : [`SVC_RUNTIME_BIN=${image.agent}`]),
          ...(volume === null ? [] : [`SVC_VOLUME=${volume.Target}`]),
        ],
        Labels: {
          ...labels,
          [LABEL.role]: "sandbox",
          ...(spec.volume && { [LABEL.volume]: spec.volume.id }),
        },
        HostConfig: {
          ...sandboxWalls(netns, runtime, spec.limits),
          ...(withDisk && { StorageOpt: { size: String(spec.limits.diskBytes) } }),
          Mounts: volume === null ? [] : [volume],
        },
        abortSignal,
      }),
    );
  if (!WITHOUT_QUOTAS.has(engine)) {
    try {
      return await create(true);
    } catch (error) {
      if (!(error instanceof EngineError) || !/storage-opt|storage opt|quota/i.test(error.message))
        throw error;
      WITHOUT_QUOTAS.add(engine);
    }
  }
  watch.log(
    "svc",
    "Docker's storage driver cannot limit the disk usage of a sandbox; only the size of a single file is limited.",
  );
  return await create(false);
}

/**
 * What isolates and limits a sandbox's container.
 * @param runtime its OCI runtime; null: the engine's default
 */
export function sandboxWalls(netns: string, runtime: string | null, limits: SandboxLimits): HostConfig {
  return {
    ...(runtime !== null && { Runtime: runtime }),
    NetworkMode: `container:${netns}`,
    CapDrop: ["ALL"],
    CapAdd: CAPABILITIES,
    // Docker's default seccomp profile stays active
    SecurityOpt: ["no-new-privileges"],
    Privileged: false,
    IpcMode: "private",
    NanoCpus: Math.round(limits.cpus * 1e9),
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    PidsLimit: limits.processes,
    Ulimits: [
      { Name: "fsize", Soft: limits.diskBytes, Hard: limits.diskBytes },
      { Name: "core", Soft: 0, Hard: 0 },
    ],
    RestartPolicy: { Name: "no" },
    LogConfig: { Type: "local", Config: { "max-size": "2m", "max-file": "2" } },
  };
}
