import { mkdir } from "node:fs/promises";
import type { DaemonPrompt } from "../src/contract/daemon.ts";
import { cloneWithRetries } from "./git/clone.ts";
import { restoreAtBoot } from "./saved/restore-at-boot.ts";
import { type Session, setAgents } from "./session.ts";
import type { Settings } from "./settings.ts";

/** The interval of attempts to open the conversation. */
const RETRY_MS = 1_000;

/**
 * Clones the repository, restores saved work, and starts the runtime (contract: Order of boot). Its process starts with the clone
 * if it can: loading its program takes seconds, and until the workspace is complete it reads nothing of it.
 */
export async function boot(session: Session): Promise<void> {
  const { settings, saver, stopping } = session;
  if (!settings.autoClone || mayStartEarly(settings)) {
    await mkdir(settings.workspace, { recursive: true }).catch(() => {});
    session.runtime.start();
  }
  if (settings.autoClone) {
    const agents = await cloneWithRetries(session, stopping);
    if (agents === null) return;
    setAgents(session, agents);
    if (settings.restore !== null) await restoreAtBoot(session, settings.restore, stopping);
    await session.record.restore(stopping);
    // after all that runs git in the clone: the command may have changed its settings
    await session.setup.run(stopping);
    if (stopping.aborted) return;
    session.clone = "ok";
    session.error = null;
    saver.start();
    session.record.start();
  }
  session.workspace.open();
  session.runtime.start();
}

/** The setup command runs before anything of the agent, and the agent's own record is restored into the home of the runtime. */
function mayStartEarly({ runtime, setup, earlier }: Settings): boolean {
  return runtime === "opencode" && setup === null && earlier.recorded === null;
}

/** Opens the conversation and sends the first prompt, with retries until the runtime accepts it. */
export async function openConversation(session: Session): Promise<void> {
  for (; !session.stopping.aborted; await Bun.sleep(RETRY_MS)) {
    const outcome = await sendFirstPrompt(session).catch(() => null);
    if (outcome === null) continue;
    if (outcome.state !== "failed") return;
    const message = `The first prompt was not sent: ${outcome.error}`;
    session.log.info(message);
    session.error = { kind: "runtime", message, permanent: true };
    return;
  }
}

async function sendFirstPrompt({
  settings,
  conversation,
  prompts,
  log,
}: Session): Promise<Pick<DaemonPrompt, "state" | "error">> {
  await conversation.open();
  if (settings.prompt === null) return { state: "running", error: null };
  const sent = await prompts.send({ id: settings.sessionId, text: settings.prompt }, false);
  if (sent.state !== "failed") log.info("sent the first prompt");
  return sent;
}
