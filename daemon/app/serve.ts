import type { DaemonApp, DaemonHealth } from "../../src/contract/daemon.ts";
import { createIdentify } from "../caller.ts";
import { cloneUntilThere } from "../git/clone.ts";
import { readCommit } from "../health.ts";
import { listenAsDaemon } from "../listen.ts";
import { createLog } from "../log.ts";
import { createChildren } from "../process/children.ts";
import { guardProcess } from "../process/guard.ts";
import type { Daemon } from "../serve.ts";
import type { Settings } from "../settings.ts";
import { build } from "./build.ts";
import { checkOut } from "./checkout.ts";
import { type AppContext, AppError } from "./context.ts";
import { createAppDecide } from "./decide.ts";
import { type Output, offerOutput } from "./output.ts";
import { type AppLimits, superviseApp } from "./process.ts";

/** For the answers that are under way when the daemon stops, beside the app's own time to end. */
const DRAIN_MS = 500;

/**
 * Runs the daemon of a deployment: listens, clones, checks the commit out, builds, and keeps the app running. It holds no
 * agent, saves nothing, and lets through only what is for the app.
 */
export function serveApp(settings: Settings, app: DaemonApp, limits: Partial<AppLimits> = {}): Daemon {
  const log = createLog();
  const children = createChildren();
  guardProcess(children, log);

  const context: AppContext = { settings, app, children, log };
  const running = app.run && superviseApp(context, limits);
  const stopping = new AbortController();
  let clone: DaemonHealth["clone"] = "cloning";
  let stage: NonNullable<DaemonHealth["app"]>["stage"] = "building";
  let commit: string | null = null;
  let error: DaemonHealth["error"] | null = null;
  let usedAt = Date.now();
  let output: Output | null = null;

  const gate = {
    identify: createIdentify(settings),
    health,
    app,
    port: () => (running?.state === "ok" ? (settings.appPort ?? app.run?.port ?? null) : null),
    output: () => output,
    onUse() {
      usedAt = Date.now();
    },
  };
  const listener = listenAsDaemon(settings, createAppDecide(gate));
  log.say(`listens on ${settings.host}:${listener.port}`);
  void deploy().catch((thrown: unknown) => {
    const kind = thrown instanceof AppError ? thrown.kind : "app";
    const message = thrown instanceof AppError ? thrown.message : "The app could not be started.";
    if (!(thrown instanceof AppError)) log.say(`${message} ${thrown}`);
    error = { kind, message, permanent: true };
    log.say(message);
  });

  return {
    port: listener.port,
    async stop() {
      stopping.abort();
      await running?.stop();
      await listener.stop(DRAIN_MS);
      output?.stop();
      children.kill();
    },
    kill: children.kill,
  };

  async function deploy(): Promise<void> {
    await cloneUntilThere(
      { settings, children, log },
      ({ message, permanent }) => {
        clone = "failed";
        error = { kind: "clone", message, permanent };
      },
      stopping.signal,
    );
    if (stopping.signal.aborted) return;
    await checkOut(context, stopping.signal);
    clone = "ok";
    error = null;
    commit = await readCommit(context);
    await build(context, stopping.signal);
    if (stopping.signal.aborted) return;
    if (app.output !== null) output = await offerOutput(context);
    stage = running ? "starting" : "built";
    await running?.keepRunning();
  }

  async function health(): Promise<DaemonHealth> {
    const { problem = null, state = "ok" as const } = running ?? {};
    if (stage === "starting" && state === "ok") stage = "running";
    const isDone = stage === "built" || stage === "running";
    const runtime = error?.permanent ? "failed" : isDone ? state : "starting";
    const wrong =
      error ?? (problem === null ? null : ({ kind: "app", message: problem, permanent: false } as const));
    return {
      daemon: "ok",
      time: new Date().toISOString(),
      runtime,
      uptime_s: Math.floor(process.uptime()),
      runtime_pid: running?.pid ?? null,
      repo: settings.repoUrl,
      // by this a provider knows whose daemon answers
      branch: settings.sessionId,
      commit,
      clone,
      busy: false,
      conversation: null,
      active_at: new Date(usedAt).toISOString(),
      saved: null,
      app: { stage },
      ...(wrong && { error: wrong }),
    };
  }
}
