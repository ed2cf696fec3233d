import { pack } from "tar-stream";
import type { Engine } from "../engine.ts";
import { LABEL } from "../names.ts";
import { runBuild } from "./build.ts";
import dockerfile from "./default.dockerfile" with { type: "text" };

const DIGEST = new Bun.CryptoHasher("sha256").update(dockerfile).digest("hex").slice(0, 32);

/** The base image of sandboxes without a Dockerfile, and the image of network namespaces. */
export const DEFAULT_TAG = `svc-default:${DIGEST}`;

/** @throws SandboxError */
export async function buildDefault(
  engine: Engine,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const context = pack();
  context.entry({ name: "Dockerfile" }, dockerfile);
  context.finalize();
  await runBuild(
    engine,
    "svc's default image",
    { context, options: { t: DEFAULT_TAG, dockerfile: "Dockerfile", labels: { [LABEL.image]: "default" } } },
    log,
    signal,
  );
}
