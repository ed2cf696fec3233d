import { and, eq } from "drizzle-orm";
import { runLog, sessionSandboxes } from "../../../db/schema/index.ts";
import type { DaemonHealth } from "../../contract/daemon.ts";
import { type EgressMode, limited } from "../../contract/egress/policy.ts";
import type { Deps } from "../../deps.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";
import {
  type Provider,
  type Sandbox,
  SandboxError,
  type SandboxSpec,
  type StartWatch,
} from "../../sandboxes/provider.ts";
import { awaitBoot } from "./boot.ts";
import { endSandbox } from "./end.ts";
import { issueKeys } from "./keys.ts";
import type { EnterStep, RunKind, SandboxKeys, Start, StartPlan } from "./kind.ts";
import { openLog, type RunLog } from "./log.ts";
import { openProgress, record } from "./progress.ts";
import { hostOf } from "./reach.ts";
import { withRetries } from "./retry.ts";
import type { RunRow } from "./row.ts";
import { readSandboxConfig, type SandboxConfig } from "./sandbox-config.ts";
import { openSlot, type Slot } from "./slot.ts";
import type { StartQueue } from "./start-queue.ts";

/**
 * Starts a run's sandbox, step by step: the kind's preparation, image, sandbox, clone, readiness. The run is `running`
 * once the daemon reports that it is ready. While the git host or the engine is away, it waits.
 * @throws the error of the step that failed; `fail` records the step
 */
export async function startSandbox(
  deps: Deps,
  kind: RunKind,
  start: Start,
  queue: StartQueue,
  signal: AbortSignal,
): Promise<void> {
  const { run, project } = start;
  const log = openLog(deps, run.runId);
  const progress = openProgress(deps, kind, run, log, signal);
  const { enter } = progress;
  const patience = { log, signal, onAway: progress.block };
  const slot = openSlot(queue, run, progress, signal);
  try {
    await withRetries(patience, () =>
      // a fetch of minutes continues without the start
      unlessAborted(kind.prepare?.(deps, start, enter) ?? Promise.resolve(), signal),
    );
    // of an earlier start, even an interrupted one: its work is saved, and its keys are revoked
    await withRetries(patience, () => endSandbox(deps, kind, run));
    const { config, plan } = await withRetries(patience, async () => {
      const config = await unlessAborted(readSandboxConfig(deps, project), signal);
      return { config, plan: await kind.plan(deps, start, config) };
    });
    const keys = await issueKeys(deps, kind, run, config.egress);
    await deps.checkpoint("keys-issued");
    const provider = providerOf(deps, run);
    for (const note of notesOf(kind, config, provider)) log.write("svc", note);
    const spec = specOf(kind, start, config, plan, keys, limited(config.egress, deps.config.egress).mode);
    const boot = () => bootSandbox(deps, kind, run, { provider, spec, plan, keys, slot, log, enter, signal });
    const { daemon, health } = await withRetries(patience, boot);
    await deps.checkpoint("runtime-ready");
    await plan.onReady?.(daemon, signal);
    await recordRunning(deps, kind, run, { plan, health, log });
    await plan.onRunning?.();
  } finally {
    slot.leave();
    // the step that failed is the last one that was entered
    await progress.recorded();
    await log.flush();
  }
}

/** @throws SandboxError */
function providerOf({ sandboxes }: Deps, run: RunRow): Provider {
  const provider = sandboxes.get(run.provider);
  if (provider) return provider;
  throw new SandboxError(`The sandbox provider "${run.provider}" is not available on this server.`, {
    permanent: true,
  });
}

function notesOf(kind: RunKind, { notes, services }: SandboxConfig, { name }: Provider): string[] {
  if (!kind.hasServices || services.length === 0 || name === "docker") return [...notes];
  return [
    ...notes,
    `The services of svc.toml (${services.join(", ")}) run in Docker only: this sandbox does not have them.`,
  ];
}

interface Boot {
  provider: Provider;
  spec: SandboxSpec;
  plan: StartPlan;
  keys: SandboxKeys;
  slot: Slot;
  log: RunLog;
  enter: EnterStep;
  signal: AbortSignal;
}

/**
 * Starts the sandbox, and waits until its daemon is ready. If the engine goes away meanwhile, nothing is known of the sandbox:
 * it may be repeated, with another one.
 */
async function bootSandbox(
  deps: Deps,
  kind: RunKind,
  run: RunRow,
  { provider, spec, plan, keys, slot, log, enter, signal }: Boot,
): Promise<{ daemon: Daemon; health: DaemonHealth }> {
  signal.throwIfAborted();
  try {
    const watch: StartWatch = {
      async step(name) {
        // a cluster decides by itself how many pods it starts
        if (name === "sandbox" && provider.name !== "kubernetes") await slot.take();
        // an error is reported by the next step, which is awaited
        void enter(name, STARTING[name]).catch(() => {});
      },
      log: (source, line) => log.write(source, line),
    };
    const sandbox = await provider.start(spec, watch, signal);
    await deps.checkpoint("sandbox-started");
    const daemon = await recordAddress(deps, run, sandbox, keys.serviceKey);
    await deps.checkpoint("address-known");
    await enter("clone", "Cloning the repository …");
    const health = await awaitBoot(deps, kind, run, daemon, signal, {
      async stage(stage) {
        // a setup may take minutes, and waits for the network
        if (stage === "setup") slot.leave();
        await enterStage(deps, kind, enter, stage);
      },
      health: ({ setup }) => void (setup && plan.onSetup?.(daemon, setup, signal)),
    });
    return { daemon, health };
  } catch (error) {
    // others may start while this one waits
    slot.leave();
    throw error;
  }
}

function specOf(
  kind: RunKind,
  { run, project }: Start,
  { build, limits, environment, services }: SandboxConfig,
  plan: StartPlan,
  keys: SandboxKeys,
  egress: EgressMode,
): SandboxSpec {
  return {
    sessionId: run.runId,
    projectId: project.projectId,
    generation: run.generation,
    runtime: plan.runtime,
    environment: (apiUrl) => ({ ...environment, ...plan.environment(keys, apiUrl) }),
    limits,
    egress,
    build,
    services: kind.hasServices ? services : [],
    ...(plan.volume && { volume: plan.volume }),
  };
}

async function enterStage(
  deps: Deps,
  kind: RunKind,
  enter: EnterStep,
  stage: "setup" | "runtime",
): Promise<void> {
  if (stage === "setup") return await enter("setup", "Running the setup command …");
  await deps.checkpoint("cloned");
  await enter("runtime", kind.text.starting);
}

const STARTING = { image: "Checking for the image …", sandbox: "Starting the sandbox …" } as const;

/** Records where the daemon listens. */
async function recordAddress(
  deps: Deps,
  { runId, generation }: RunRow,
  { address }: Sandbox,
  serviceKey: string,
): Promise<Daemon> {
  if (!address) throw new SandboxError("The sandbox exited right after it started.");
  await deps.db
    .update(sessionSandboxes)
    .set({ ...hostOf(address), updatedAt: deps.clock() })
    .where(and(eq(sessionSandboxes.runId, runId), eq(sessionSandboxes.generation, generation)));
  return { address, serviceKey, sessionId: runId };
}

async function recordRunning(
  deps: Deps,
  kind: RunKind,
  run: RunRow,
  { plan, health, log }: { plan: StartPlan; health: DaemonHealth; log: RunLog },
): Promise<void> {
  const { runId } = run;
  // a reader who sees the status `running` sees the whole log
  await log.flush();
  const running = {
    status: "running",
    step: null,
    blockedOn: null,
    error: null,
    readyAt: deps.clock(),
  } as const;
  await record(deps, kind, run, running, async (tx, now) => {
    await tx
      .update(sessionSandboxes)
      .set({ state: "active", updatedAt: now })
      .where(eq(sessionSandboxes.runId, runId));
    await tx.insert(runLog).values({ runId, source: "svc", text: kind.text.running, at: now });
    await plan.onRecorded?.(tx, now, health);
  });
  await deps.checkpoint("running-recorded");
}
