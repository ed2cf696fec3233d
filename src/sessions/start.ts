import { and, eq, sql } from "drizzle-orm";
import { projectSessions, sessionLog, sessionSandboxes } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { BootStep } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { queueOf } from "../jobs/places.ts";
import type { Daemon } from "../sandboxes/daemon.ts";
import { type Sandbox, SandboxError } from "../sandboxes/provider.ts";
import { openSecrets } from "../secrets/open.ts";
import { awaitBoot } from "./boot.ts";
import { makeBranch } from "./branch.ts";
import { buildOf } from "./build.ts";
import { deploymentEnvironment, readDeployment } from "./deployment.ts";
import { endSandbox } from "./end.ts";
import { environmentOf } from "./environment.ts";
import { makeKeys } from "./keys.ts";
import { openLog, type SessionLog } from "./log.ts";
import { keepBuildLog } from "./logs.ts";
import { placeOf } from "./reach.ts";
import { commitToRestore } from "./saved.ts";
import { takeSite } from "./take-site.ts";
import { tell } from "./tell.ts";
import { thisStart } from "./this-start.ts";
import type { SessionRow } from "./wire.ts";

/** One start of a session's sandbox. */
export interface Start {
  session: SessionRow;
  project: ProjectRow;
}

/**
 * Starts a session's sandbox, step by step: branch, image, sandbox, clone, runtime. A session is `running` when its
 * runtime answers, and not before; a deployment has no branch, is built where others are cloned, and runs when its app
 * answers.
 * @throws whatever a step fails with; `fail` says which step it was
 */
export async function startSandbox(deps: Deps, start: Start, signal: AbortSignal): Promise<void> {
  const { session, project } = start;
  const log = openLog(deps, session.sessionId);
  let entering = Promise.resolve();
  const step = (name: BootStep, words: string): Promise<void> => {
    signal.throwIfAborted();
    log.write("svc", words);
    // whoever reads both finds the words first
    entering = entering.then(() => log.flush()).then(() => enter(deps, session, name));
    return entering;
  };
  try {
    const app = session.purpose === "app" ? await readDeployment(deps, session) : null;
    if (!app) {
      await step("branch", `Making the branch ${session.branchName} from ${session.baseRef} …`);
      await makeBranch(deps, start);
      await deps.checkpoint("branch-made");
    }

    // an earlier start of this session, also one that was cut off: its work is saved, and its keys die
    await endSandbox(deps, session);
    const restore = await commitToRestore(deps, start);
    const keys = await makeKeys(deps, session);
    await deps.checkpoint("keys-made");
    const audience = app ? ["apps", `apps:${app.slug}`] : session.secretAudience;
    const open = () => openSecrets(deps, project.projectId, audience, session.secretNames);
    const secrets = await open();
    const provider = deps.sandboxes.get(session.provider);
    if (!provider)
      throw new SandboxError(`This server has no ${session.provider} sandboxes.`, { permanent: true });
    const { build, limits } = await buildOf(deps, project);
    signal.throwIfAborted();
    const sandbox = await provider.start(
      {
        sessionId: session.sessionId,
        projectId: project.projectId,
        generation: session.generation,
        hasRuntime: app === null,
        environment: (apiUrl) =>
          app
            ? deploymentEnvironment({ ...start, app }, keys.serviceKey, secrets, apiUrl)
            : environmentOf(deps, start, keys, secrets, apiUrl, restore),
        limits,
        build,
      },
      {
        // a step that cannot be entered is told by the next one, which is waited for
        step: (name) => void step(name, STARTING[name]).catch(() => {}),
        log: (source, line) => log.write(source, line),
      },
      signal,
    );
    await deps.checkpoint("sandbox-started");
    await place(deps, session, sandbox);
    await deps.checkpoint("address-known");

    await step("clone", "Cloning the repository …");
    const restored = await boot(deps, session, sandbox, keys.serviceKey, step, signal);
    if (app?.build) await keepBuildLog(deps, session);
    if (app?.output && sandbox.address)
      await takeSite(deps, daemonOf(session, sandbox.address, keys.serviceKey), signal);
    await record(deps, session, restored, log);
    // what was set while it started
    const { revision } = await open();
    if (revision !== secrets.revision && !app)
      await deps.jobs.enqueue(deps.db, queueOf("secrets", session.place), project.projectId);
  } finally {
    // the step that failed is the last one that was entered
    await entering.catch(() => {});
    await log.flush();
  }
}

const STARTING = { image: "Looking for the image …", sandbox: "Starting the sandbox …" } as const;

/** Notes the step that begins, in the row of this very start. @throws when the session is to be something else */
async function enter(deps: Deps, session: SessionRow, step: BootStep): Promise<void> {
  const row = await deps.db.transaction(async (tx) => {
    const [entered] = await tx
      .update(projectSessions)
      .set({ step, updatedAt: deps.clock() })
      .where(thisStart(session))
      .returning({ id: projectSessions.sessionId });
    if (entered) await tell(deps, tx, session, "changed");
    return entered;
  });
  deps.changes.notify(session.sessionId);
  if (!row) throw new Error("the session is to be something else by now");
}

/** Writes down where the daemon listens. */
async function place(deps: Deps, { sessionId, generation }: SessionRow, { address }: Sandbox): Promise<void> {
  if (!address) throw new SandboxError("The sandbox ended as soon as it was started.");
  await deps.db
    .update(sessionSandboxes)
    .set({ ...placeOf(address), updatedAt: deps.clock() })
    .where(and(eq(sessionSandboxes.sessionId, sessionId), eq(sessionSandboxes.generation, generation)));
}

/** @returns the saved work that is in the sandbox again */
async function boot(
  deps: Deps,
  session: SessionRow,
  sandbox: Sandbox,
  serviceKey: string,
  step: (name: BootStep, words: string) => Promise<void>,
  signal: AbortSignal,
): Promise<string | null> {
  if (!sandbox.address) return null;
  const daemon = daemonOf(session, sandbox.address, serviceKey);
  const { restored } = await awaitBoot(deps, session, daemon, signal, async () => {
    await deps.checkpoint("cloned");
    await step("runtime", session.purpose === "app" ? "Starting the app …" : "Starting the agent runtime …");
  });
  await deps.checkpoint("runtime-ready");
  return restored ?? null;
}

function daemonOf(
  { sessionId }: SessionRow,
  address: NonNullable<Sandbox["address"]>,
  serviceKey: string,
): Daemon {
  return { address, serviceKey, sessionId };
}

/** The sandbox answers: the session runs. */
async function record(
  deps: Deps,
  session: SessionRow,
  restored: string | null,
  log: SessionLog,
): Promise<void> {
  const now = deps.clock();
  const text = session.purpose === "app" ? "The app answers." : "The session is running.";
  // who sees that it runs sees its whole log
  await log.flush();
  const { savedCommit, savedGeneration } = projectSessions;
  // only what is saved still: the daemon may have saved other work by now
  const has = sql`case when ${savedCommit} = ${restored} then ${session.generation} else ${savedGeneration} end`;
  const isRecorded = await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projectSessions)
      .set({
        status: "running",
        step: null,
        error: null,
        savedGeneration: has,
        updatedAt: now,
        lastActiveAt: now,
      })
      .where(thisStart(session))
      .returning({ sessionId: projectSessions.sessionId });
    if (!row) return false;
    await tx
      .update(sessionSandboxes)
      .set({ state: "active", updatedAt: now })
      .where(eq(sessionSandboxes.sessionId, session.sessionId));
    await tx.insert(sessionLog).values({ sessionId: session.sessionId, source: "svc", text, at: now });
    await deps.jobs.enqueue(tx, queueOf("prompts", session.place), session.sessionId);
    await tell(deps, tx, session, "changed");
    return true;
  });
  if (!isRecorded) throw new Error("the session is to be something else by now");
  deps.changes.notify(session.sessionId);
  await deps.checkpoint("running-recorded");
}
