import { RunActivity } from "./activity.ts";
import { boot, openConversation } from "./boot.ts";
import { createIdentify } from "./caller.ts";
import { Choosing } from "./choice.ts";
import { createControl } from "./control.ts";
import { createDecide, type Gate } from "./decide.ts";
import { Executions } from "./exec/executions.ts";
import { serveExecutions } from "./exec/serve.ts";
import { NO_AGENT_CONFIG } from "./git/agent-config.ts";
import { listenAsDaemon } from "./listen.ts";
import { createLog } from "./log.ts";
import { createChildren } from "./process/children.ts";
import { guardProcess } from "./process/guard.ts";
import { Latch } from "./process/latch.ts";
import { createConversation } from "./prompts/conversation.ts";
import { Prompts } from "./prompts/prompts.ts";
import { AgentRecordKeeper, type RecordContext } from "./record/agent-record.ts";
import { type RuntimeContext, superviseRuntime } from "./runtime/runtime.ts";
import { Saver, type SaverContext } from "./saved/saver.ts";
import { type ProjectConfig, type Session, saveWork } from "./session.ts";
import type { Settings } from "./settings.ts";
import { Setup } from "./setup/setup.ts";
import { thisProgram } from "./this-program.ts";
import { createVerbs } from "./verbs.ts";
import { Workspace } from "./workspace/workspace.ts";

export interface Daemon {
  port: number;
  /** Aborts all runs, ends the runtime and its descendants, and closes the listener. */
  stop(): Promise<void>;
  /** Kills all processes that the daemon has started. */
  kill(): void;
}

/** For files that the runtime writes as it ends. */
const LAST_SAVE_MS = 5_000;
/** The outcome of the prompt that is being answered when the daemon stops. */
const STOPPED = {
  state: "interrupted",
  error: "The sandbox was stopped in the middle of the answer.",
} as const;
/** For responses under way when the daemon stops. */
const DRAIN_MS = 500;

type Limits = NonNullable<RuntimeContext["limits"] & SaverContext["limits"] & RecordContext["limits"]>;

/**
 * Runs the daemon (contract: Order of boot): listens, clones, starts the runtime, sends the first prompt.
 *
 * 1. Listen at once: health reports the progress, every other request gets 503 until the runtime is ready.
 * 2. Clone into a folder of the workspace, with a credential that lives for minutes, then move it into place. A
 *    failed clone is reported and retried (`boot.ts`). Meanwhile the runtime loads its program, if nothing else comes before it.
 * 3. Prepare the runtime's home: the agents of the default branch, svc's skill, plugins. Start the runtime without
 *    the service key, as its own user, inside the provider's wrapper. Every command that reads the agent's files runs
 *    like this, since git executes programs from a repository's settings.
 * 4. Supervise it: a runtime that exits, hangs or takes too much memory is restarted, and the conversations that it
 *    was answering are notified.
 * 5. Every half minute, save unpushed work: create a commit outside the workspace, and upload it. After each turn, keep the
 *    agent's own record of the conversation, which the next sandbox's daemon restores before it starts the agent.
 * 6. At the end: abort all runs, wait, save, then SIGTERM and SIGKILL to the runtime and all its descendants.
 *
 * @param limits override those of the runtime's supervision and of saving
 */
export function serveDaemon(settings: Settings, limits: Limits = {}): Daemon {
  const stopping = new AbortController();
  const session = createSession(settings, limits, stopping.signal);
  const { log, children, runtime, prompts, saver, activity, choosing, executions } = session;
  const execServer = serveExecutions(executions);
  const gate: Gate = {
    identify: createIdentify(settings),
    control: createControl(createVerbs(session)),
    execOf(id, userId) {
      if (!executions.find(id, userId)) return null;
      return { to: execServer.address, authorization: execServer.authorization };
    },
    setup: () => session.setup.exchange,
    runtime,
    runtimePort: settings.runtimePort,
    ownPort: () => listener.port,
    beforePrompt: () => (choosing.isPending ? choosing.apply() : null),
    onUse({ isPrompt, isAbort }) {
      session.usedAt = performance.now();
      if (isPrompt || isAbort) activity.noteClient();
      if (isPrompt) activity.notePrompt();
      if (isAbort) prompts.noteAbort();
    },
  };
  const listener = listenAsDaemon(settings, createDecide(gate));
  log.info(`listens on ${settings.host}:${listener.port}`);
  void boot(session);

  return {
    port: listener.port,
    async stop() {
      stopping.abort();
      saver.stop();
      session.record.stop();
      await activity.whileEnding(async () => {
        prompts.cutOff(STOPPED);
        await Promise.all([runtime.stop(), executions.stop()]);
        // also without a runtime, and for the files that it wrote as it ended
        await saveWork(session, LAST_SAVE_MS);
        await listener.stop(DRAIN_MS);
        execServer.stop();
      });
    },
    kill: children.kill,
  };
}

function createSession(settings: Settings, limits: Limits, stopping: AbortSignal): Session {
  const log = createLog();
  const children = createChildren();
  guardProcess(children, log);
  const project: ProjectConfig = { secrets: settings.secrets, agents: NO_AGENT_CONFIG };
  const context = { settings, children, log, secrets: () => project.secrets, limits };
  const activity = new RunActivity();
  const workspace = new Latch();
  const choosing = new Choosing({ settings, activity, runtime: () => runtime });
  let isOpening = false;
  const saver = new Saver(context);
  const runtime = superviseRuntime({
    ...context,
    agentConfig: () => project.agents,
    workspace,
    choice: () => choosing.atStart(),
    onReady() {
      if (isOpening || !settings.opensConversation) return;
      isOpening = true;
      void openConversation(session);
    },
    async beforeReady() {
      await record.tell();
      await setup.tell();
    },
    async beforeEnd() {
      await Promise.all([saveWork(session), settings.autoClone && record.save()]);
    },
  });
  const conversation = createConversation(runtime.call);
  const record = new AgentRecordKeeper({
    ...{ ...context, conversation },
    runtime: () => runtime,
    program: thisProgram(),
  });
  const setup = new Setup({ ...context, conversation, runtime: () => runtime });
  const prompts = new Prompts({ settings, runtime, conversation, activity, choosing });
  const session: Session = {
    ...{
      settings,
      children,
      log,
      project,
      saver,
      record,
      setup,
      runtime,
      conversation,
      activity,
      prompts,
      choosing,
      stopping,
    },
    workspace,
    clone: settings.autoClone ? "cloning" : "ok",
    error: null,
    usedAt: performance.now(),
    executions: new Executions(() => session),
    reading: new Workspace({ settings, children, isCloned: () => session.clone === "ok" }),
  };
  return session;
}
