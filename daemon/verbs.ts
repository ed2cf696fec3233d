import type { DaemonEnv } from "../src/contract/daemon.ts";
import { SvcError } from "../src/contract/errors.ts";
import type { Verbs } from "./control.ts";
import { AgentConfigError, fetchAgentConfig } from "./git/agent-config.ts";
import { pullBranch } from "./git/pull-branch.ts";
import { createHealth } from "./health.ts";
import { readPorts } from "./ports.ts";
import { abortRuns } from "./runtime/abort.ts";
import { readChoices } from "./runtime/choices.ts";
import { type Session, saveWork, setAgents } from "./session.ts";

/** The time that runs have to end after an abort, before the request fails. */
const ABORT_MS = 15_000;

export function createVerbs(session: Session): Verbs {
  return {
    health: createHealth(session),
    refresh: exclusive(() => refresh(session)),
    abort: () => abort(session),
    setSecrets: (secrets) => setSecrets(session, secrets),
    choose: (choice) => session.choosing.choose(choice),
    async choices() {
      const { settings, runtime, project } = session;
      const found =
        runtime.state === "ok" && (await readChoices(settings, project.secrets.env, runtime.call));
      return found || Promise.reject(unavailable("The agent runtime is not ready."));
    },
    ports: () => readPorts(session.settings),
    exec: (command) => session.executions.start(command),
    workspace: (wanted, client) => session.reading.read(wanted, client),
    async prompt({ prompt_id: id, text, attachments = [], choice, wait }) {
      session.usedAt = performance.now();
      return await session.prompts.send({ id, text, attachments, ...(choice && { choice }) }, wait ?? false);
    },
  };
}

async function refresh(session: Session): Promise<{ before: string | null; after: string | null }> {
  const { settings, log } = session;
  if (session.clone !== "ok" || !settings.autoClone) throw unavailable("The repository is not cloned yet.");
  await saveWork(session);
  const agents = await fetchAgentConfig(settings).catch((error: unknown) => {
    if (error instanceof AgentConfigError) throw new SvcError("repo_unreachable", error.message);
    throw error;
  });
  const moved = await pullBranch(session);
  setAgents(session, agents);
  log.info(`refreshed from ${moved.before} to ${moved.after}`);
  await restart(session);
  return moved;
}

async function abort({ runtime, prompts, activity }: Session): Promise<void> {
  if (runtime.state !== "ok") throw unavailable("The agent runtime is not ready.");
  prompts.noteAbort();
  const { found, idle } = await activity.whileEnding(() =>
    abortRuns(runtime.call, ABORT_MS, () => activity.isRunExpected),
  );
  if (!idle) throw new SvcError("sandbox_unreachable", "The run was aborted, but has not ended.");
  if (!found) throw new SvcError("nothing_to_abort", "No run is under way.");
}

async function setSecrets(session: Session, secrets: DaemonEnv): Promise<boolean> {
  const isChanged = !Bun.deepEquals(session.project.secrets.env, secrets.env);
  session.project.secrets = secrets;
  if (isChanged) await restart(session);
  return isChanged;
}

async function restart({ activity, prompts, runtime }: Session): Promise<void> {
  await activity.whileEnding(async () => {
    prompts.cutOff();
    await runtime.restart();
  });
}

/** Refuses a call while another is under way. */
function exclusive<T>(work: () => Promise<T>): () => Promise<T> {
  let isRunning = false;
  return async () => {
    if (isRunning) throw new SvcError("refresh_in_progress", "A refresh is under way.");
    isRunning = true;
    try {
      return await work();
    } finally {
      isRunning = false;
    }
  };
}

function unavailable(message: string): SvcError {
  return new SvcError("unavailable", message, {}, { "Retry-After": "1" });
}
