import type { Container, HostConfig } from "dockerode";
import type { SandboxLimits, SandboxSpec, StartWatch } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import type { SandboxImage } from "./images/images.ts";
import { LABEL, type Labels } from "./names.ts";

interface ContainerSpec {
  name: string;
  image: SandboxImage;
  labels: Labels;
  /** Whose network namespace it joins. */
  fence: string;
  spec: SandboxSpec;
  environment: Readonly<Record<string, string>>;
}

/**
 * What the daemon needs as root, and nothing else: to run the agent as another user (SETUID, SETGID), to end what that
 * user runs (KILL), to hand it the clone (CHOWN), and to clean up among its files (DAC_OVERRIDE, FOWNER).
 */
const CAPABILITIES = ["SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"];

/** An image's own settings that would run code in svc's programs; without `=` a variable is taken away. */
const TAKEN_AWAY = [
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "BUN_INSPECT",
  "NODE_OPTIONS",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
];

/** Engines that have refused to limit a container's disk: what they store on cannot. */
const WITHOUT_QUOTAS = new WeakSet<Engine>();

/**
 * Makes the sandbox's container; it does not run yet. What the engine cannot hold of its limits is said in the log.
 * @throws SandboxError
 */
export async function createSandbox(
  engine: Engine,
  { name, image, labels, fence, spec, environment }: ContainerSpec,
  watch: StartWatch,
): Promise<Container> {
  const create = (withDisk: boolean) =>
    engine.ask("make the sandbox's container", (docker, abortSignal) =>
      docker.createContainer({
        name,
        Image: image.id,
        User: "0:0",
        Env: [
          ...TAKEN_AWAY,
          ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
          `SVC_RUNTIME_USER=${image.runtimeUser}`,
        ],
        Labels: { ...labels, [LABEL.role]: "sandbox" },
        HostConfig: hostConfig(fence, spec.limits, withDisk),
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
    "Docker's storage here cannot limit how much disk a sandbox takes; only the size of a single file is limited.",
  );
  return await create(false);
}

function hostConfig(fence: string, limits: SandboxLimits, withDisk: boolean): HostConfig {
  return {
    NetworkMode: `container:${fence}`,
    CapDrop: ["ALL"],
    CapAdd: CAPABILITIES,
    // with it stands Docker's own seccomp profile
    SecurityOpt: ["no-new-privileges"],
    Privileged: false,
    IpcMode: "private",
    NanoCpus: Math.round(limits.cpus * 1e9),
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    PidsLimit: limits.processes,
    ...(withDisk && { StorageOpt: { size: String(limits.diskBytes) } }),
    Ulimits: [
      { Name: "fsize", Soft: limits.diskBytes, Hard: limits.diskBytes },
      { Name: "core", Soft: 0, Hard: 0 },
    ],
    RestartPolicy: { Name: "no" },
    LogConfig: { Type: "local", Config: { "max-size": "2m", "max-file": "2" } },
  };
}
