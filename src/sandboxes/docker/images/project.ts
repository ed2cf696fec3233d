import { randomUUID } from "node:crypto";
import { type Pack, pack } from "tar-stream";
import { type ImageBuild, SandboxError } from "../../provider.ts";
import { entriesOf, textOf, writeEntry } from "../../tar.ts";
import { endAll } from "../end.ts";
import { LABEL } from "../names.ts";
import { createNetwork } from "../network.ts";
import { startNetworkNamespace } from "../network-namespace.ts";
import { runBuild } from "./build.ts";
import { dockerfileFault } from "./dockerfile.ts";
import type { ImageContext } from "./images.ts";

/** Of the build context: a repository's working files. */
const CONTEXT_MAX_BYTES = 2 * 1024 ** 3;
const DOCKERFILE_MAX_BYTES = 256 * 1024;

/**
 * Builds the image of a project's Dockerfile. It has the network of an open sandbox, without the API.
 * @throws SandboxError; the signal's reason
 */
export async function buildProject(
  { engine, options, readHostNetwork }: ImageContext,
  { build, tag, netns: image }: { build: ImageBuild; tag: string; netns: string },
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const id = randomUUID();
  const own = { [LABEL.installation]: options.installation, [LABEL.start]: id };
  const hostNetwork = await readHostNetwork(image);
  try {
    const labels = { ...own, [LABEL.role]: "scratch" };
    const network = await createNetwork(engine, `svc-build-${id}`, labels);
    const netns = await startNetworkNamespace(
      engine,
      {
        ...{ name: `svc-build-${id}`, image, labels, network, hostNetwork },
        ...{ hosts: [], api: null, proxy: null, daemonPort: null },
      },
      signal,
    );
    await netns.ready;
    const context = pack();
    const aborted = new AbortController();
    const copying = copyContext(build, context).catch((error: unknown) => aborted.abort(error));
    const buildOptions = {
      t: tag,
      dockerfile: nameIn(build.dockerfile),
      networkmode: `container:${netns.id}`,
      labels: { [LABEL.image]: "project" },
      ...(build.args && { buildargs: { ...build.args } }),
      ...(build.target !== undefined && { target: build.target }),
    };
    const name = `the image of ${build.dockerfile}`;
    await runBuild(
      engine,
      name,
      { context, options: buildOptions },
      log,
      AbortSignal.any([signal, aborted.signal]),
    );
    await copying;
  } finally {
    await endAll(engine, own, 0);
  }
}

/**
 * Copies the context as it is.
 * @throws SandboxError when it is too large, or its Dockerfile is not allowed
 */
async function copyContext({ context, dockerfile }: ImageBuild, copy: Pack): Promise<void> {
  const refuse = (why: string) =>
    new SandboxError(`${dockerfile} cannot be built: ${why}.`, { permanent: true });
  let bytes = 0;
  let isFound = false;
  for await (const { header, pieces } of entriesOf(context())) {
    bytes += header.size;
    if (bytes > CONTEXT_MAX_BYTES)
      throw refuse(`its context is larger than ${CONTEXT_MAX_BYTES / 1024 ** 3} GiB`);
    if (nameIn(header.name) !== nameIn(dockerfile)) {
      await writeEntry(copy, header, pieces);
      continue;
    }
    if (header.type !== "file") throw refuse("it is not a plain file");
    const text = await textOf(pieces, DOCKERFILE_MAX_BYTES);
    const fault = text === null ? "it is too large" : dockerfileFault(text);
    if (text === null || fault !== null) throw refuse(fault ?? "");
    isFound = true;
    copy.entry({ ...header, size: Buffer.byteLength(text) }, text);
  }
  if (!isFound) throw refuse("the repository does not contain this file");
  copy.finalize();
}

function nameIn(path: string): string {
  return path.replace(/^(?:\.?\/)+/, "").replace(/\/{2,}/g, "/");
}
