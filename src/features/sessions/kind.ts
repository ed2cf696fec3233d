import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectSessions, tokens } from "../../../db/schema/index.ts";
import type { DaemonHealth } from "../../contract/daemon.ts";
import { runtimeKind, unknownRuntime } from "../../contract/runtimes.ts";
import type { BootStep, SessionSetup } from "../../contract/session.ts";
import { SETUP_RESULTS } from "../../contract/setup.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { mintToken } from "../../identity/auth/token.ts";
import { queueOf } from "../../jobs/places.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import { grantModels, revokeModelKey } from "../models/key.ts";
import type { RunKind, Start, StartPlan } from "../runs/kind.ts";
import { withoutControls } from "../runs/log.ts";
import type { RunRow } from "../runs/row.ts";
import type { SandboxConfig } from "../runs/sandbox-config.ts";
import { createBranch } from "./branch.ts";
import { interruptTurns } from "./conversation/end.ts";
import { recapOf } from "./conversation/recap.ts";
import { recordedEarlier } from "./conversation/recorded-earlier.ts";
import { environmentOf } from "./environment.ts";
import { keepRequest } from "./kept/keep.ts";
import { endWaitingNotices } from "./notify.ts";
import { interruptPrompt } from "./prompts/interrupt.ts";
import { type SessionRow, sessionRow } from "./row.ts";
import { saveOrphan } from "./save-orphan.ts";
import { commitToRestore } from "./saved.ts";
import { openSessionSecrets } from "./secrets.ts";
import { planSetup } from "./setup/keeper.ts";
import { recordStatusEvent } from "./webhook.ts";

/** A slow network or a busy machine makes a clone slow. */
const CLONE = { stillMs: 5 * 60_000, longestMs: 60 * 60_000 };
/** The runtime starts within seconds; this allows for three restarts. */
const RUNTIME = { stillMs: 60_000, longestMs: 10 * 60_000 };

/** The run of a session: an agent at work on its own branch. */
export const sessionRuns: RunKind = {
  name: "session",
  hasServices: true,
  limits: { clone: CLONE, ready: RUNTIME },
  text: {
    starting: "Starting the agent runtime …",
    running: "The session is running.",
    stopped: "The session has stopped.",
    cloneLate: "The repository was not cloned",
    readyLate: "The agent runtime did not start",
    failed: (step, reason) => `${FAILED[step]}: ${reason}`,
    lost: (sessionId, reason) =>
      `The session is lost: ${reason} Restart it on another server: svc sessions restart ${sessionId}`,
  },
  async prepare(deps, { run, project }, enter) {
    const session = await sessionOf(deps, run);
    await enter("branch", `Creating the branch ${session.branchName} from ${session.baseRef} …`);
    await createBranch(deps, { session, project });
    await deps.checkpoint("branch-created");
  },
  plan,
  async grant(deps, tx, { runId: sessionId, projectId, accountId }) {
    const [session] = await tx
      .select({ userId: projectSessions.createdBy })
      .from(projectSessions)
      .where(eq(projectSessions.sessionId, sessionId));
    if (!session) throw new Error("a run has no session");
    await tx.delete(tokens).where(eq(tokens.sessionId, sessionId));
    const name = `session ${sessionId}`;
    const { secret: token } = await mintToken(tx, deps.keys, { ...session, projectId, sessionId, name });
    const models = await grantModels(deps, tx, { ...session, accountId, projectId, sessionId });
    return { token, models };
  },
  async onEnded(tx, sessionId, state, now) {
    await tx.delete(tokens).where(eq(tokens.sessionId, sessionId));
    await revokeModelKey(tx, sessionId);
    const how = state === "stopped" ? "session was stopped" : "sandbox ended";
    const isAsking = await keepRequest(tx, sessionId);
    const at = isAsking
      ? "while the agent waited for an answer. Its answer continues it"
      : "in the middle of the answer";
    await interruptPrompt(tx, sessionId, `The ${how} ${at}.`, now);
    await interruptTurns(tx, sessionId, now);
    await endWaitingNotices(tx, sessionId, now);
  },
  async saveOrphan(deps, run) {
    await saveOrphan(deps, await sessionOf(deps, run));
  },
  async publish(deps, tx, run, action) {
    const { runId: sessionId, projectId, status, updatedAt } = run;
    if (action !== "deleted") {
      const ofSession = eq(projectSessions.sessionId, sessionId);
      const [before] = await tx
        .select({ status: projectSessions.status })
        .from(projectSessions)
        .where(ofSession);
      await tx.update(projectSessions).set({ status, updatedAt }).where(ofSession);
      if (before && before.status !== status) await recordStatusEvent(deps, tx, run);
    }
    await publish(tx, projectId, { type: "session", id: sessionId, action });
  },
};

const FAILED: Readonly<Record<BootStep, string>> = {
  branch: "The session's branch could not be created",
  image: "The sandbox's image could not be built",
  waiting: "The sandbox could not be started",
  sandbox: "The sandbox could not be started",
  clone: "The repository could not be cloned in the sandbox",
  setup: "The sandbox could not be set up",
  runtime: "The agent runtime did not start",
};

async function plan(deps: Deps, { run, project }: Start, config: SandboxConfig): Promise<StartPlan> {
  const session = await sessionOf(deps, run);
  const { sessionId, projectId, generation, place } = session;
  const restore = await commitToRestore(deps, { session, project });
  const { customRuntimes } = deps;
  const runtime = session.runtime ?? config.runtime;
  const open = () => openSessionSecrets(deps, { ...session, runtime });
  const secrets = await open();
  const recap = await recapOf(deps.db, sessionId);
  if (runtimeKind(runtime, customRuntimes) === null)
    throw new SandboxError(unknownRuntime(runtime, customRuntimes), { permanent: true });
  const recorded = await recordedEarlier(deps, sessionId, runtime);
  const isNew = restore === null && recap === null && recorded === null;
  const { setup, onSetup } = await planSetup(deps, { run, config, secrets, isNew });
  return {
    runtime,
    ...(onSetup && { onSetup }),
    environment: (keys, apiUrl) =>
      environmentOf(
        { session, project, recap, recorded, runtime, customRuntimes, setup },
        keys,
        secrets,
        apiUrl,
        restore,
      ),
    async onRecorded(tx: Db, now, health) {
      const { restored = null } = health;
      const { savedCommit, savedGeneration } = projectSessions;
      // unless the daemon has saved other work since
      const has = sql`case when ${savedCommit} = ${restored} then ${generation} else ${savedGeneration} end`;
      await tx
        .update(projectSessions)
        .set({ savedGeneration: has, lastActiveAt: now, runtime, setup: setupOf(health) })
        .where(eq(projectSessions.sessionId, sessionId));
      await deps.jobs.enqueue(tx, queueOf("prompts", place), sessionId);
    },
    async onRunning() {
      // secrets that were set while it started
      const { revision } = await open();
      if (revision !== secrets.revision)
        await deps.jobs.enqueue(deps.db, queueOf("secrets", place), projectId);
      await deps.jobs.enqueue(deps.db, queueOf("choices", place), sessionId);
    },
  };
}

function setupOf({ setup }: DaemonHealth): SessionSetup | null {
  const state = SETUP_RESULTS.find((each) => each === setup?.state);
  if (!setup || !state) return null;
  const { problem, output } = setup;
  return { state, problem: problem && withoutControls(problem), output: output.map(withoutControls) };
}

/** @throws when the session was deleted meanwhile */
async function sessionOf(deps: Deps, { runId }: RunRow): Promise<SessionRow> {
  const session = await sessionRow(deps.db, runId);
  if (!session) throw new Error("a run has no session");
  return session;
}
