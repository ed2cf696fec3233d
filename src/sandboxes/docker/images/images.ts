import { arch } from "node:os";
import { DEFAULT_RUNTIME } from "../../../contract/runtimes.ts";
import { type ProviderOptions, SandboxError, type SandboxSpec, type StartWatch } from "../../provider.ts";
import { type Engine, EngineError } from "../engine.ts";
import type { HostNetwork } from "../host-network.ts";
import { LABEL } from "../names.ts";
import { createBinaries } from "./binaries.ts";
import { buildDefault, DEFAULT_TAG } from "./default.ts";
import { addAgent, addPrograms, LIBC_LABEL, USER_LABEL } from "./layers.ts";
import { buildProject } from "./project.ts";
import { pruneImages } from "./prune.ts";
import { createShared } from "./shared.ts";

export interface SandboxImage {
  id: string;
  /** The user that the agent runs as, `uid:gid`. */
  runtimeUser: string;
  /** The path of the agent's program that svc has added; null: opencode, or one of the image's own. */
  agent: string | null;
}

/** The images of sandboxes. Each is built once. */
export interface Images {
  /**
   * The image for a sandbox and the one for its network namespace. Existing images are reused; concurrent starts with the
   * same image share one build, and each logs its progress.
   * @throws SandboxError with the last lines of a build that fails; the signal's reason
   */
  prepare(
    wanted: Pick<SandboxSpec, "build" | "runtime">,
    watch: StartWatch,
    signal: AbortSignal,
  ): Promise<{ sandbox: SandboxImage; netns: string }>;
  /** The image of network namespaces; null until the first sandbox has started. @throws SandboxError */
  netns(): Promise<string | null>;
}

/** The dependencies of a build. */
export interface ImageContext {
  engine: Engine;
  options: ProviderOptions;
  readHostNetwork(image: string): Promise<HostNetwork>;
}

/** Increment it when the output of `layers.ts` changes. */
const LAYOUT = "3";

export function createImages(context: ImageContext): Images {
  const { engine, options } = context;
  const binaries = createBinaries(options);
  const own = { [LABEL.installation]: options.installation };
  const share = createShared();

  return {
    netns: async () => (await inspect(DEFAULT_TAG).catch(nullIfMissing))?.Id ?? null,
    async prepare({ build, runtime }, watch, signal) {
      const netns = await ensure(DEFAULT_TAG, watch, signal, (log, abort) =>
        buildDefault(engine, log, abort),
      );
      if (build === null)
        return { sandbox: await layered(DEFAULT_TAG, null, runtime, watch, signal), netns: netns.id };
      const tag = `svc-project:${digestOf([build.hash, build.dockerfile])}`;
      await ensure(tag, watch, signal, (log, abort) =>
        buildProject(context, { build, tag, netns: netns.id }, log, abort),
      );
      const user = build.user ?? null;
      return { sandbox: await layered(tag, user, runtime, watch, signal), netns: netns.id };
    },
  };

  async function layered(
    base: string,
    user: string | null,
    runtime: SandboxSpec["runtime"],
    watch: StartWatch,
    signal: AbortSignal,
  ): Promise<SandboxImage> {
    const { Id: baseId } = await inspect(base);
    const tag = `svc-sandbox:${digestOf([LAYOUT, baseId, await binaries.digest(), ...(user === null ? [] : [user])])}`;
    const { id, labels } = await ensure(tag, watch, signal, (log, abort) =>
      addPrograms(engine, { base: baseId, tag, labels: own, user }, binaries, log, abort),
    );
    const runtimeUser = requireUser(labels);
    const agent = runtime && runtime !== DEFAULT_RUNTIME ? await binaries.agent(runtime) : null;
    if (agent === null || labels[LIBC_LABEL] !== "glibc") return { id, runtimeUser, agent: null };
    const withAgent = `svc-sandbox:${digestOf([LAYOUT, id, agent.digest])}`;
    const image = await ensure(withAgent, watch, signal, async (log, abort) => {
      log(`adding ${runtime}`);
      await addAgent(engine, { base: id, tag: withAgent, labels: own }, agent.files, abort);
    });
    return { id: image.id, runtimeUser, agent: agent.program };
  }

  /** Finds an image, or builds it and removes old ones. */
  async function ensure(
    tag: string,
    watch: StartWatch,
    signal: AbortSignal,
    make: (log: (line: string) => void, abort: AbortSignal) => Promise<void>,
  ): Promise<{ id: string; labels: Record<string, string> }> {
    const found = await inspect(tag).catch(nullIfMissing);
    if (!found) {
      await share(tag, { log: (line) => watch.log("build", line), signal }, async (log, abort) => {
        await make(log, abort);
        await pruneImages(engine);
      });
    }
    const { Id, Config } = found ?? (await inspect(tag));
    return { id: Id, labels: Config.Labels ?? {} };
  }

  function inspect(tag: string) {
    return engine.call("find an image", (docker) => docker.getImage(tag).inspect());
  }
}

/** Without a user, the agent would run as root. @throws SandboxError */
export function requireUser(labels: Readonly<Record<string, string>>): string {
  const user = labels[USER_LABEL];
  if (user !== undefined && /^[1-9]\d*:[1-9]\d*$/.test(user)) return user;
  throw new SandboxError(
    `The engine did not keep the label ${USER_LABEL} of the sandbox's image, so svc does not know the user of the agent. Use Docker, or another release of Podman.`,
    { permanent: true },
  );
}

function nullIfMissing(error: unknown): null {
  if (error instanceof EngineError && error.status === 404) return null;
  throw error;
}

/** 32 hex digits. */
function digestOf(parts: readonly string[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  return hash
    .update(JSON.stringify([arch(), ...parts]))
    .digest("hex")
    .slice(0, 32);
}
