import { pack } from "tar-stream";
import { SvcError } from "../../contract/errors.ts";
import type { Manifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Repository } from "../../git/git.ts";
import { streamOf } from "../../http/stream.ts";
import type { ImageBuild } from "../../sandboxes/provider.ts";
import { streamOf as streamOfTar } from "../../sandboxes/tar.ts";
import {
  DEVCONTAINER_MAX_BYTES,
  DEVCONTAINERS,
  type DevcontainerImage,
  readDevcontainer,
} from "./devcontainer.ts";

/** The default of `sandbox.dockerfile` (contract: Manifest). */
const DOCKERFILE = ".svc/Dockerfile";

/** What a repository says of the containers of its sandboxes. */
export interface ContainerConfig {
  /** Null: the default image. */
  build: ImageBuild | null;
  /** Variables of its programs, which secrets override. */
  environment: Readonly<Record<string, string>>;
  /** The setup command of a devcontainer.json; null: none. */
  setup: string | null;
  /** Sentences for the log. */
  notes: readonly string[];
}

export const NO_CONTAINER: ContainerConfig = { build: null, environment: {}, setup: null, notes: [] };

/**
 * The container of a commit of the mirror: a Dockerfile, or else a devcontainer.json.
 * @throws validation_failed when the manifest names a Dockerfile or a context that does not exist, or the devcontainer.json
 *   cannot be used
 */
export async function readContainer(
  deps: Deps,
  repo: Repository,
  commit: string,
  { dockerfile, context }: Manifest["sandbox"],
): Promise<ContainerConfig> {
  const source: Source = { deps, repo, commit, named: "svc.toml" };
  if (dockerfile !== null || (await isFile(source, DOCKERFILE)))
    return { ...NO_CONTAINER, build: await buildOf(source, dockerfile ?? DOCKERFILE, context) };
  for (const path of DEVCONTAINERS) {
    const file = await deps.git.readFile(repo, commit, path, DEVCONTAINER_MAX_BYTES);
    if (file !== null) return await containerOf({ ...source, named: path }, new TextDecoder().decode(file));
  }
  return NO_CONTAINER;
}

interface Source {
  deps: Deps;
  repo: Repository;
  commit: string;
  /** The file that names the Dockerfile, for errors. */
  named: string;
}

async function containerOf(source: Source, text: string): Promise<ContainerConfig> {
  const { image, user, environment, setup, ignored } = readDevcontainer(source.named, text);
  const build = image && (await imageOf(source, image));
  const more = ignored.length === 0 ? "" : ` Not used: ${ignored.join(", ")}.`;
  return {
    build: build && { ...build, ...(user !== null && { user }) },
    environment,
    setup,
    notes: [`The sandbox is that of ${source.named}.${more}`],
  };
}

async function imageOf(source: Source, image: DevcontainerImage): Promise<ImageBuild> {
  if (image.is === "name") return buildFrom(image.name);
  const { dockerfile, context, args, target } = image;
  const build = await buildOf(source, dockerfile, context);
  const isPlain = Object.keys(args).length === 0 && target === null;
  return {
    ...build,
    // the hash names the image
    hash: isPlain ? build.hash : `${build.hash} ${JSON.stringify([args, target])}`,
    args,
    ...(target !== null && { target }),
  };
}

/** An image as it is. */
function buildFrom(name: string): ImageBuild {
  return {
    dockerfile: "Dockerfile",
    hash: `image ${name}`,
    context: () =>
      streamOf(async (onBytes) => {
        const context = pack();
        context.entry({ name: "Dockerfile" }, `FROM ${name}\n`);
        context.finalize();
        for await (const bytes of streamOfTar(context)) await onBytes(bytes);
      }),
  };
}

async function buildOf(source: Source, path: string, context: string): Promise<ImageBuild> {
  const { deps, repo, commit, named } = source;
  const root = context === "." ? { id: commit } : await directory(source, context);
  if (!(await isFile(source, path))) throw missing(source, path);
  const prefix = context === "." ? "" : `${context}/`;
  if (!path.startsWith(prefix)) {
    const sentence = `The Dockerfile "${path}" of ${named} must be inside its context "${context}".`;
    throw new SvcError("validation_failed", sentence);
  }
  return {
    dockerfile: path.slice(prefix.length),
    hash: `${root.id} ${path.slice(prefix.length)}`,
    context: () =>
      streamOf((onBytes, signal) => deps.git.archive(repo, { commit, tree: root.id, onBytes, signal })),
  };
}

async function isFile({ deps, repo, commit }: Source, path: string): Promise<boolean> {
  return (await deps.git.findEntry(repo, commit, Buffer.from(path)))?.type === "file";
}

async function directory(source: Source, path: string): Promise<{ id: string }> {
  const { deps, repo, commit } = source;
  const entry = await deps.git.findEntry(repo, commit, Buffer.from(path));
  if (entry?.type !== "directory") throw missing(source, path);
  return entry;
}

function missing({ named }: Source, path: string): SvcError {
  return new SvcError("validation_failed", `"${path}" in ${named} does not exist on the default branch.`);
}
