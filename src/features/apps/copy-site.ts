import { eq } from "drizzle-orm";
import { appDeployments } from "../../../db/schema/index.ts";
import { siteFolder } from "../../data-folder.ts";
import type { Deps } from "../../deps.ts";
import { type Daemon, readOutput } from "../../sandboxes/daemon.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import { SiteError, unpack } from "../../sandboxes/unpack.ts";

/** Time to copy a large site from a machine nearby. */
const COPY_MS = 10 * 60_000;

/**
 * Copies the site that a sandbox has built to this server's data folder.
 * @throws SandboxError when it is too large, or the sandbox does not send it
 */
export async function copySite(deps: Deps, daemon: Daemon, signal: AbortSignal): Promise<void> {
  const { sessionId } = daemon;
  try {
    const output = await readOutput(daemon, AbortSignal.any([signal, AbortSignal.timeout(COPY_MS)]));
    await unpack(output, siteFolder(deps.config.dataDir, sessionId));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SiteError) throw new SandboxError(error.message);
    deps.log.warn({ session: sessionId, err: error }, "cannot copy a site from its sandbox");
    throw new SandboxError("The built site could not be copied from its sandbox.");
  }
  await deps.db
    .update(appDeployments)
    .set({ sitePlace: deps.serverId })
    .where(eq(appDeployments.deploymentId, sessionId));
}
