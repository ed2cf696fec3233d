import type { DaemonApp, DaemonCheckResult, DaemonHealth } from "../../src/contract/daemon.ts";
import { createIdentify } from "../caller.ts";
import { cloneWithRetries } from "../git/clone.ts";
import { cached, readCommit, timeOf } from "../health.ts";
import { listenAsDaemon } from "../listen.ts";
import { createLog } from "../log.ts";
import { createChildren } from "../process/children.ts";
import { guardProcess } from "../process/guard.ts";
import { timeOfDescendants } from "../process/tree.ts";
import type { Daemon } from "../serve.ts";
import type { Settings } from "../settings.ts";
import { build } from "./build.ts";
import { runCheck } from "./check.ts";
import { checkOut } from "./checkout.ts";
import { type AppContext, AppError } from "./context.ts";
import { createAppDecide } from "./decide.ts";
import { type Output, serveOutput } from "./output.ts";
import { type AppLimits, type AppProcess, superviseApp } from "./process.ts";

/** For responses under way when the daemon stops, in addition to the app's own time to end. */
const DRAIN_MS = 500;

/** The parts of a deployment's daemon, and the state that they share. */
interface Deployment extends AppContext {
  /** Null: a static app, which has no process. */
  running: AppProcess | null;
  clone: DaemonHealth["clone"];
  stage: NonNullable<DaemonHealth["app"]>["stage"];
  commit: string | null;
  error: DaemonHealth["error"] | null;
  /** By `performance.now()`. */
  usedAt: number;
  output: Output | null;
  /** The result of a check. */
  result: DaemonCheckResult | null;
}

/**
 * Runs the daemon of a deployment: listens, clones, checks out the commit, builds, and keeps the app running; or that of a
 * check, which runs its command once. It has no agent, saves nothing, and forwards only requests to the app.
 */
export function serveApp(settings: Settings, app: DaemonApp, limits: Partial<AppLimits> = {}): Daemon {
  const log = createLog();
  const children = createChildren();
  guardProcess(children, log);

  const context: AppContext = { settings, app, children, log };
  const running = app.run && superviseApp(context, limits);
  const worked = cached(() => timeOfDescendants(process.pid));
  const stopping = new AbortController();
  const deployment: Deployment = {
    ...context,
    running,
    clone: "cloning",
    stage: "building",
    commit: null,
    error: null,
    usedAt: performance.now(),
    output: null,
    result: null,
  };
  const gate = {
    identify: createIdentify(settings),
    health: async () => healthOf(deployment, await worked()),
    app,
    port: () => (running?.state === "ok" ? (settings.appPort ?? app.run?.port ?? null) : null),
    output: () => deployment.output,
    onUse() {
      deployment.usedAt = performance.now();
    },
  };
  const listener = listenAsDaemon(settings, createAppDecide(gate));
  log.info(`listens on ${settings.host}:${listener.port}`);
  void deploy(deployment, stopping.signal).catch((error: unknown) => reportFailure(deployment, error));

  return {
    port: listener.port,
    async stop() {
      stopping.abort();
      await running?.stop();
      await listener.stop(DRAIN_MS);
      deployment.output?.stop();
      children.kill();
    },
    kill: children.kill,
  };
}

async function deploy(deployment: Deployment, stopping: AbortSignal): Promise<void> {
  const { app, running } = deployment;
  await cloneWithRetries(deployment, stopping);
  if (stopping.aborted) return;
  await checkOut(deployment, stopping);
  deployment.clone = "ok";
  deployment.error = null;
  deployment.commit = await readCommit(deployment);
  if (app.check) {
    deployment.stage = "running";
    const result = await runCheck(deployment, app.check, stopping);
    if (!stopping.aborted) deployment.result = result;
    return;
  }
  await build(deployment, stopping);
  if (stopping.aborted) return;
  if (app.output !== null) deployment.output = await serveOutput(deployment);
  deployment.stage = running ? "starting" : "built";
  await running?.keepRunning();
}

function reportFailure(deployment: Deployment, error: unknown): void {
  const { log } = deployment;
  const kind = error instanceof AppError ? error.kind : "app";
  const message = error instanceof AppError ? error.message : "The app could not be started.";
  if (!(error instanceof AppError)) log.info(`${message} ${error}`);
  deployment.error = { kind, message, permanent: true };
  log.info(message);
}

function healthOf(deployment: Deployment, workedMs: number): DaemonHealth {
  const { settings, app, running, error, commit, clone, usedAt, result } = deployment;
  const { problem = null, state = "ok" as const } = running ?? {};
  if (deployment.stage === "starting" && state === "ok") deployment.stage = "running";
  const { stage } = deployment;
  const isDone = stage === "built" || stage === "running";
  const runtime = error?.permanent ? "failed" : isDone ? state : "starting";
  const wrong =
    error ?? (problem === null ? null : ({ kind: "app", message: problem, permanent: false } as const));
  return {
    daemon: "ok",
    time: new Date().toISOString(),
    runtime,
    uptime_s: Math.floor(process.uptime()),
    worked_ms: workedMs,
    runtime_pid: running?.pid ?? null,
    repo: settings.repoUrl,
    // the provider uses this to recognize the daemon
    branch: settings.sessionId,
    commit,
    clone,
    busy: false,
    conversation: null,
    active_at: timeOf(usedAt),
    saved: null,
    app: { stage },
    ...(app.check && { check: result }),
    ...(wrong && { error: wrong }),
  };
}
