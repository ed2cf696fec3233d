import type { Container } from "dockerode";
import type { StartWatch } from "../provider.ts";
import { SandboxError } from "../provider.ts";
import { CAPABILITIES } from "./container.ts";
import { type Engine, EngineError } from "./engine.ts";
import { listeningPorts } from "./listening.ts";
import { LABEL, type Labels } from "./names.ts";
import { textOf } from "./output.ts";

interface ServicesSpec {
  /** Names of images. */
  images: readonly string[];
  /** The name of the sandbox's container. */
  name: string;
  labels: Labels;
  /** The container whose network namespace they join. */
  netns: string;
  runtime: string | null;
}

/** For a database that begins with its tables on a slow disk. */
const READY_MS = 3 * 60_000;
const POLL_MS = 250;
/** Without progress, and in all, for an image of a gigabyte. */
const FETCH = { ms: 5 * 60_000, longestMs: 30 * 60_000, reportsProgress: true };
/** Each beside the limits of the sandbox. */
const LIMITS = { cpus: 1, memoryBytes: 1024 ** 3, processes: 512 };
const LAST_LINES = 5;
const OUTPUT_MAX_BYTES = 8 * 1024;

/** By these, the images of databases start without a password: only the sandbox reaches them. */
const ENVIRONMENT = [
  "POSTGRES_HOST_AUTH_METHOD=trust",
  "MYSQL_ALLOW_EMPTY_PASSWORD=yes",
  "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=yes",
  "discovery.type=single-node",
];

/** The name by which a sandbox reaches a service besides `localhost`: the last part of its image's. */
export function serviceName(image: string): string {
  return image.replace(/@.*$/, "").split("/").at(-1)?.replace(/:.*$/, "") ?? image;
}

/** Fetches the images of services that the engine does not have. One that cannot be fetched is logged. */
export async function fetchServices(
  engine: Engine,
  images: readonly string[],
  watch: StartWatch,
  signal: AbortSignal,
): Promise<void> {
  for (const image of images) {
    if (await hasImage(engine, image)) continue;
    watch.log("svc", `Fetching the image of the service ${image} …`);
    await logged(image, watch, signal, () =>
      engine.call(
        `fetch the image ${image}`,
        async (docker, abortSignal, moved) => {
          const stream = await docker.pull(image, { abortSignal });
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()), moved);
          await promise;
        },
        { ...FETCH, signal },
      ),
    );
  }
}

/**
 * Starts the services of a sandbox in its network namespace, and waits until they listen on the port that their image names.
 * One that does not start is logged: the sandbox starts without it.
 */
export async function startServices(
  engine: Engine,
  { images, name, labels, netns, runtime }: ServicesSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    images.map((image, index) =>
      logged(image, watch, signal, async () => {
        const container = await engine.call(`create the service ${image}`, (docker, abortSignal) =>
          docker.createContainer({
            ...containerOf(image, netns, runtime, labels),
            name: `${name}-service-${index}`,
            abortSignal,
          }),
        );
        await engine.call(`start the service ${image}`, (_, abortSignal) => container.start({ abortSignal }));
        await untilListening(engine, container, netns, signal);
        watch.log("svc", `The service ${image} has started.`);
      }),
    ),
  );
}

async function logged(
  image: string,
  watch: StartWatch,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SandboxError)) throw error;
    watch.log("svc", `The sandbox starts without the service ${image}: ${error.message}`);
  }
}

async function hasImage(engine: Engine, image: string): Promise<boolean> {
  try {
    await engine.call("find an image", (docker) => docker.getImage(image).inspect());
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return false;
    throw error;
  }
}

/** No host folder, and the capabilities of a sandbox: an entry point becomes another user. Its volumes end with it. */
function containerOf(image: string, netns: string, runtime: string | null, labels: Labels) {
  return {
    Image: image,
    Env: ENVIRONMENT,
    Labels: { ...labels, [LABEL.role]: "service" },
    HostConfig: {
      ...(runtime !== null && { Runtime: runtime }),
      NetworkMode: `container:${netns}`,
      CapDrop: ["ALL"],
      CapAdd: CAPABILITIES,
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      IpcMode: "private",
      NanoCpus: LIMITS.cpus * 1e9,
      Memory: LIMITS.memoryBytes,
      MemorySwap: LIMITS.memoryBytes,
      PidsLimit: LIMITS.processes,
      Ulimits: [{ Name: "core", Soft: 0, Hard: 0 }],
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "local", Config: { "max-size": "2m", "max-file": "2" } },
    },
  };
}

/** @throws SandboxError when it ends, or does not listen in time */
async function untilListening(
  engine: Engine,
  container: Container,
  netns: string,
  signal: AbortSignal,
): Promise<void> {
  const describe = () =>
    engine.call("describe a service", (_, abortSignal) => container.inspect({ abortSignal }));
  const ports = Object.keys((await describe()).Config.ExposedPorts ?? {}).flatMap((port) =>
    port.endsWith("/tcp") ? [Number(port.slice(0, -"/tcp".length))] : [],
  );
  for (const end = performance.now() + READY_MS; ; await Bun.sleep(POLL_MS)) {
    signal.throwIfAborted();
    const { State } = await describe();
    if (!State.Running)
      throw new SandboxError(`it exited with code ${State.ExitCode}.${await lastLines(engine, container)}`);
    const listening = ports.length === 0 ? null : await listeningPorts(engine, netns);
    if (listening === null || ports.some((port) => listening.has(port))) return;
    if (performance.now() > end) throw new SandboxError(`it does not listen on port ${ports.join(", ")}.`);
  }
}

/** The end of its output, as the end of a sentence. */
async function lastLines(engine: Engine, container: Container): Promise<string> {
  const framed = await engine.call("read the output of a service", (_, abortSignal) =>
    container.logs({ stdout: true, stderr: true, follow: false, tail: LAST_LINES, abortSignal }),
  );
  const text = textOf(framed, OUTPUT_MAX_BYTES).trim();
  return text === "" ? "" : `\n${text}`;
}
