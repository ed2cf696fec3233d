import { SandboxError } from "../provider.ts";
import type { Engine } from "./engine.ts";

/** The OCI runtime of containers that run the programs of sandboxes. svc's own containers have the engine's default. */
export interface Runtime {
  /**
   * The runtime; null: the engine's default. The first call checks it, and the next one again after a failure.
   * @param image of network namespaces, for the probe; null: there is none yet, so only the name is checked
   * @throws SandboxError when the engine does not have the runtime, or network rules do not hold with it
   */
  find(image: string | null): Promise<string | null>;
}

/** Runtimes whose containers are ordinary processes of their network namespace, so that its rules hold. */
const ORDINARY: readonly string[] = ["runc", "crun", "io.containerd.runc.v2"];
const NAMES_MAX = 20;

/**
 * @param wanted `SVC_DOCKER_RUNTIME`; null: the engine's default, which is checked unless it is an ordinary one
 * @param probe why network rules do not hold with a runtime, as a sentence; null if they hold
 */
export function createRuntime(
  engine: Engine,
  wanted: string | null,
  probe: (runtime: string, image: string) => Promise<string | null>,
): Runtime {
  let accepting: Promise<void> | null = null;

  return {
    async find(image) {
      if (accepting === null) {
        const name = await nameToProbe();
        if (name !== null && image === null) return wanted;
        accepting ??= accept(name, image);
      }
      await accepting;
      return wanted;
    },
  };

  /** @returns null if there is nothing to probe. @throws SandboxError when the engine does not have the runtime */
  async function nameToProbe(): Promise<string | null> {
    const { Runtimes, DefaultRuntime } = await engine.call("describe itself", (docker) => docker.info());
    const names = Object.keys(Runtimes ?? {}).sort();
    if (wanted === null) return !DefaultRuntime || ORDINARY.includes(DefaultRuntime) ? null : DefaultRuntime;
    if (names.includes(wanted)) return wanted;
    throw new SandboxError(
      `The Docker engine has no runtime "${wanted}" (SVC_DOCKER_RUNTIME). It has: ${names.slice(0, NAMES_MAX).join(", ")}.`,
      { permanent: true },
    );
  }

  async function accept(name: string | null, image: string | null): Promise<void> {
    try {
      const problem = name === null || image === null ? null : await probe(name, image);
      if (problem !== null) throw new SandboxError(problem, { permanent: true });
    } catch (error) {
      accepting = null;
      throw error;
    }
  }
}
