import { randomUUID } from "node:crypto";
import { type Pack, pack } from "tar-stream";
import { type ImageBuild, SandboxError } from "../../provider.ts";
import { entriesOf, textOf, writeEntry } from "../../tar.ts";
import { endAll } from "../end.ts";
import { startFence } from "../fence.ts";
import { LABEL } from "../names.ts";
import { createNetwork } from "../network.ts";
import { runBuild } from "./build.ts";
import { dockerfileFault } from "./dockerfile.ts";
import type { ImageContext } from "./images.ts";

/** A repository's working files; who needs more of them in an image clones them there. */
const CONTEXT_MAX_BYTES = 2 * 1024 ** 3;
const DOCKERFILE_MAX_BYTES = 256 * 1024;

/**
 * Builds the image that a project's Dockerfile describes. What it runs is fenced like a sandbox, and has no API.
 * @throws SandboxError; the signal's reason
 */
export async function buildProject(
  { engine, options, lookAround }: ImageContext,
  { build, tag, fence: image }: { build: ImageBuild; tag: string; fence: string },
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const id = randomUUID();
  const own = { [LABEL.installation]: options.installation, [LABEL.start]: id };
  const surroundings = await lookAround(image);
  try {
    const labels = { ...own, [LABEL.role]: "scratch" };
    const network = await createNetwork(engine, `svc-build-${id}`, labels);
    const fence = await startFence(
      engine,
      { name: `svc-build-${id}`, image, labels, network, surroundings, api: null, daemonPort: null },
      signal,
    );
    await fence.holds;
    const context = pack();
    const cut = new AbortController();
    const copying = copyContext(build, context).catch((error: unknown) => cut.abort(error));
    const buildOptions = {
      t: tag,
      dockerfile: nameIn(build.dockerfile),
      networkmode: `container:${fence.id}`,
      labels: { [LABEL.image]: "project" },
    };
    const name = `the image of ${build.dockerfile}`;
    await runBuild(
      engine,
      name,
      { context, options: buildOptions },
      log,
      AbortSignal.any([signal, cut.signal]),
    );
    await copying;
  } finally {
    await endAll(engine, own, 0);
  }
}

/**
 * Copies the context as it is.
 * @throws SandboxError when it is too large, or its Dockerfile asks the engine for what a sandbox may not have
 */
async function copyContext({ context, dockerfile }: ImageBuild, copy: Pack): Promise<void> {
  const refuse = (why: string) =>
    new SandboxError(`${dockerfile} cannot be built: ${why}.`, { permanent: true });
  let bytes = 0;
  let isThere = false;
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
    isThere = true;
    copy.entry({ ...header, size: Buffer.byteLength(text) }, text);
  }
  if (!isThere) throw refuse("the repository has no such file");
  copy.finalize();
}

function nameIn(path: string): string {
  return path.replace(/^(?:\.?\/)+/, "").replace(/\/{2,}/g, "/");
}
