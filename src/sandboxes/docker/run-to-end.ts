import type { ContainerCreateOptions } from "dockerode";
import { SandboxError } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import { textOf } from "./output.ts";

/** Ten times a list of a thousand addresses. */
const OUTPUT_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Runs a small container, which takes well under a second, without capabilities, and removes it.
 * @param what describes the call, as in "Docker did not <what>"
 * @returns its output
 * @throws SandboxError when it fails
 */
export async function runToEnd(
  engine: Engine,
  what: string,
  options: ContainerCreateOptions,
): Promise<string> {
  const container = await engine.call(what, (docker, abortSignal) =>
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
    await engine.call(what, (_, abortSignal) => container.start({ abortSignal }));
    const { StatusCode } = await engine.call(what, (_, abortSignal) => container.wait({ abortSignal }));
    const output = await engine.call(what, (_, abortSignal) =>
      container.logs({ stdout: true, stderr: true, follow: false, abortSignal }),
    );
    const text = textOf(output, OUTPUT_MAX_BYTES);
    if (StatusCode !== 0) throw new SandboxError(`Docker did not ${what}: ${text.trim().slice(-200)}`);
    return text;
  } finally {
    await removeContainer(engine, container.id);
  }
}

/** Kills and removes a container, with its anonymous volumes. One that does not exist is not an error. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  try {
    await engine.call("remove a container", (docker, abortSignal) =>
      docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
    );
  } catch (error) {
    // 409: its removal is in progress
    if (!(error instanceof EngineError) || (error.status !== 404 && error.status !== 409)) throw error;
  }
}
