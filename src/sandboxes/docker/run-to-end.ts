import type { ContainerCreateOptions } from "dockerode";
import { SandboxError } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import { textOf } from "./output.ts";

/** What runs to its end here takes well under a second. */
const RUN_MS = 60_000;
/** A thousand addresses are listed in a tenth of this. */
const OUTPUT_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Runs a small container without any right, and takes it away again.
 * @param what it does, as the end of "Docker did not …"
 * @returns what it wrote
 * @throws SandboxError when it fails
 */
export async function runToEnd(
  engine: Engine,
  what: string,
  options: ContainerCreateOptions,
): Promise<string> {
  const container = await engine.ask(what, (docker, abortSignal) =>
    docker.createContainer({
      ...options,
      HostConfig: {
        ...options.HostConfig,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        ReadonlyRootfs: true,
        PidsLimit: 16,
        Memory: 64 * 1024 * 1024,
        LogConfig: { Type: "json-file", Config: { "max-size": "8m", "max-file": "1" } },
      },
      abortSignal,
    }),
  );
  try {
    await engine.ask(what, (_, abortSignal) => container.start({ abortSignal }));
    const { StatusCode } = await engine.ask(what, (_, abortSignal) => container.wait({ abortSignal }), {
      ms: RUN_MS,
    });
    const output = await engine.ask(what, (_, abortSignal) =>
      container.logs({ stdout: true, stderr: true, follow: false, abortSignal }),
    );
    const text = textOf(output, OUTPUT_MAX_BYTES);
    if (StatusCode !== 0) throw new SandboxError(`Docker did not ${what}: ${text.trim().slice(-200)}`);
    return text;
  } finally {
    await removeContainer(engine, container.id);
  }
}

/** Takes a container away at once, with its anonymous volumes; one that is not there is no error. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  try {
    await engine.ask("remove a container", (docker, abortSignal) =>
      docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
    );
  } catch (error) {
    // 409: somebody else is removing it already
    if (!(error instanceof EngineError) || (error.status !== 404 && error.status !== 409)) throw error;
  }
}
