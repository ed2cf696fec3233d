import { eq } from "drizzle-orm";
import { appDeployments } from "../../../db/schema/index.ts";
import { siteFolder } from "../../data-folder.ts";
import type { Deps } from "../../deps.ts";
import { type Daemon, readOutput } from "../../sandboxes/daemon.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import { SiteError, unpack } from "../../sandboxes/unpack.ts";

/** A large site comes from a machine nearby. */
const TAKE_MS = 10 * 60_000;

/**
 * Takes out of a sandbox what it has built, and keeps it in this server's data folder.
 * @throws SandboxError when it is too large, or the sandbox does not hand it out
 */
export async function takeSite(deps: Deps, daemon: Daemon, signal: AbortSignal): Promise<void> {
  const { sessionId } = daemon;
  try {
    const output = await readOutput(daemon, AbortSignal.any([signal, AbortSignal.timeout(TAKE_MS)]));
    await unpack(output, siteFolder(deps.config.dataDir, sessionId));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SiteError) throw new SandboxError(error.message);
    deps.log.warn({ session: sessionId, err: error }, "a site could not be taken out of its sandbox");
    throw new SandboxError("What was built could not be taken out of its sandbox.");
  }
  await deps.db
    .update(appDeployments)
    .set({ sitePlace: deps.serverId })
    .where(eq(appDeployments.deploymentId, sessionId));
}
