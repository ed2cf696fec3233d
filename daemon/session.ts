import type { DaemonEnv } from "../src/contract/daemon.ts";
import type { RunActivity } from "./activity.ts";
import type { Choosing } from "./choice.ts";
import type { Executions } from "./exec/executions.ts";
import type { AgentConfig } from "./git/agent-config.ts";
import type { HealthContext } from "./health.ts";
import type { Log } from "./log.ts";
import type { Latch } from "./process/latch.ts";
import type { Conversation } from "./prompts/conversation.ts";
import type { Prompts } from "./prompts/prompts.ts";
import type { AgentRecordKeeper } from "./record/agent-record.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { Saver } from "./saved/saver.ts";
import type { Setup } from "./setup/setup.ts";
import type { Workspace } from "./workspace/workspace.ts";

/** The parts of a session's daemon, and the state that they share. */
export interface Session extends HealthContext {
  log: Log;
  runtime: Runtime;
  conversation: Conversation;
  prompts: Prompts;
  choosing: Choosing;
  saver: Saver;
  record: AgentRecordKeeper;
  activity: RunActivity;
  executions: Executions;
  setup: Setup;
  reading: Workspace;
  project: ProjectConfig;
  /** Opens when the workspace is complete. */
  workspace: Latch;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** The project's configuration that the next start of the runtime uses. */
export interface ProjectConfig {
  secrets: DaemonEnv;
  agents: AgentConfig;
}

/** The time to save unpushed work before the runtime ends, for which the end of the sandbox waits. */
const SAVE_MS = 20_000;

/** Saves the unpushed work in the clone, if there is a clone. */
export async function saveWork(
  { settings, clone, saver }: Pick<Session, "settings" | "clone" | "saver">,
  ms = SAVE_MS,
): Promise<void> {
  if (clone === "ok" && settings.autoClone) await saver.save(ms);
}

export function setAgents({ project, log }: Session, agents: AgentConfig): void {
  project.agents = agents;
  if (agents.commit !== null) log.info(`the project's agents are from commit ${agents.commit}`);
}
