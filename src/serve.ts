import pino, { type Logger } from "pino";
import { databaseTime } from "../db/time.ts";
import { backUp } from "./backup/back-up.ts";
import type { Config } from "./config.ts";
import { readServerId } from "./data-folder.ts";
import type { Deps } from "./deps.ts";
import { keyFor } from "./edge/admin/backup.ts";
import { runAdminCommand } from "./edge/admin/command.ts";
import { readCustomRuntimes } from "./edge/admin/custom-runtimes.ts";
import { listenForAdmin } from "./edge/admin/socket.ts";
import { openEvents } from "./events/events.ts";
import { LiveTexts } from "./events/live-texts.ts";
import { applyApps } from "./features/apps/apply.ts";
import { startDomainWorker } from "./features/apps/domains/worker.ts";
import { deploymentRuns } from "./features/apps/kind.ts";
import { startPreviewWorker } from "./features/apps/previews/worker.ts";
import { startVolumeWorker } from "./features/apps/volumes/worker.ts";
import { startAppWorker } from "./features/apps/worker.ts";
import { startAutoMergeWorker } from "./features/change-requests/auto-merge/worker.ts";
import { startOwnerRequestWorker } from "./features/change-requests/code-owners/request.ts";
import { followHeads } from "./features/change-requests/follow-heads.ts";
import { startQueueWorker } from "./features/change-requests/queue/worker.ts";
import { settleAll } from "./features/change-requests/settle.ts";
import { startChannelWorker } from "./features/channels/worker.ts";
import { startHostChecksWorker } from "./features/checks/host/worker.ts";
import { applyChecks } from "./features/checks/own/apply.ts";
import { checkRuns } from "./features/checks/own/kind.ts";
import { startCheckWorker } from "./features/checks/own/worker.ts";
import { applyConnectors } from "./features/connectors/apply.ts";
import type { ManifestFeature } from "./features/manifest/feature.ts";
import { followDefaultBranches } from "./features/manifest/follow.ts";
import { settleCalls } from "./features/models/settle.ts";
import { startNotificationWorker } from "./features/notifications/worker.ts";
import { applyEgress } from "./features/runs/egress/apply.ts";
import { createEgressGate } from "./features/runs/egress/gate.ts";
import type { RunKind } from "./features/runs/kind.ts";
import { stopWithServer } from "./features/runs/stop-with-server.ts";
import { startRunWorker } from "./features/runs/worker.ts";
import { sessionRuns } from "./features/sessions/kind.ts";
import { startSessionWorker } from "./features/sessions/worker.ts";
import { applyTriggers } from "./features/triggers/apply.ts";
import { startTriggerScheduler } from "./features/triggers/scheduler.ts";
import { startWebhookWorker } from "./features/webhooks/worker.ts";
import { createGit } from "./git/create.ts";
import type { GitLimits } from "./git/run/limits.ts";
import { startAuditWorker } from "./identity/audit/worker.ts";
import { publicUrl } from "./identity/auth/public-url.ts";
import { makeFirstUserLink } from "./identity/sign-in/links.ts";
import { startHeartbeat } from "./jobs/heartbeat.ts";
import { queuesOf } from "./jobs/places.ts";
import { openJobs } from "./jobs/queue.ts";
import { Changes } from "./lib/changes.ts";
import { openConnections } from "./lib/connections.ts";
import { KeyedMutex } from "./lib/keyed-mutex.ts";
import { createOutbound } from "./lib/outbound.ts";
import { createTxtRecords } from "./lib/txt-records.ts";
import { listen } from "./listen.ts";
import { createMetrics } from "./metrics.ts";
import { openModels } from "./models/models.ts";
import { open } from "./open.ts";
import { createSandboxes } from "./sandboxes/create.ts";
import { logIsolation } from "./sandboxes/log-isolation.ts";

export interface Server {
  /** The URL that the server listens on, with the actual port if the configured one is 0. */
  url: string;
  /** A one-time link that creates the first user; null when there are users. */
  firstUserLink: string | null;
  /** Accepts no new requests, waits for those in progress, then closes git and the database. */
  stop(): Promise<void>;
}

/** The features that manifests configure. */
const MANIFEST_FEATURES: readonly ManifestFeature[] = [
  applyTriggers,
  applyApps,
  applyConnectors,
  applyChecks,
  applyEgress,
];

/** The kinds of runs in sandboxes. */
const RUN_KINDS: readonly RunKind[] = [sessionRuns, deploymentRuns, checkRuns];

interface ServeChanges extends Partial<Deps> {
  gitLimits?: Partial<GitLimits>;
  manifestFeatures?: readonly ManifestFeature[];
  eventsPollMs?: number;
}

/**
 * Starts the server.
 * @param changes replacements for tests: a clock, a checkpoint that ends the process, lower limits
 * @throws what `open` throws, and AddressInUseError
 */
export async function serve(
  config: Config,
  { manifestFeatures = MANIFEST_FEATURES, ...changes }: ServeChanges = {},
): Promise<Server> {
  const opening = await open(config);
  /** Closed in reverse order when the start fails. */
  const opened: (() => Promise<unknown>)[] = [opening.close];
  try {
    const parts = await openParts(config, opening, changes, opened);
    const { deps, address, endHeartbeat, isolationLogged } = parts;
    const { keys, log } = deps;
    await settleCalls(deps);
    const http = await listen(deps);
    address.port = http.port;
    opened.push(() => http.stop());
    const kinds = new Map(RUN_KINDS.map((kind) => [kind.name, kind]));
    const endWork = await startWork(deps, kinds, manifestFeatures);
    const closeAdmin = listenForAdmin(config.dataDir, {
      run: (command) => runAdminCommand({ db: deps.db, keys, site: publicUrl(deps) }, command),
      backUp(withKey) {
        const { dataDir } = config;
        return backUp({
          database: opening.database,
          git: deps.git,
          keys,
          dataDir,
          masterKey: keyFor(config, withKey),
          volumeMaxBytes: config.volumeMaxBytes,
          log,
        });
      },
      onFailure: (error) => log.error({ err: error }, "a backup failed"),
    });
    const firstUserLink = await makeFirstUserLink(deps.db, keys, publicUrl(deps));
    const settling = settleAll(deps).catch((error: unknown) =>
      log.error({ err: error }, "cannot settle merges"),
    );
    return {
      url: `http://${address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname}:${address.port}`,
      firstUserLink,
      async stop() {
        closeAdmin();
        http.close();
        await endWork();
        await parts.jobs.stop();
        // event streams do not end otherwise
        await parts.events.close();
        // sandboxes save their work through the git gateway as they stop
        await stopWithServer(deps, kinds).catch((error: unknown) =>
          log.warn({ err: error }, "cannot stop the runs"),
        );
        await http.stop();
        endHeartbeat();
        await isolationLogged;
        await parts.sandboxes.close();
        await parts.egress.flush();
        await parts.git.close();
        await settling;
        await opening.close();
      },
    };
  } catch (error) {
    for (const close of opened.reverse()) await close();
    throw error;
  }
}

/** Opens the dependencies of the features in order. @param opened receives a function that closes each */
async function openParts(
  config: Config,
  { database, keys }: Awaited<ReturnType<typeof open>>,
  { gitLimits = {}, eventsPollMs, ...changes }: Omit<ServeChanges, "manifestFeatures">,
  opened: (() => Promise<unknown>)[],
) {
  const checkpoint = changes.checkpoint ?? (() => {});
  const log = createLog(config);
  const metrics = createMetrics();
  const customRuntimes = readCustomRuntimes(config.runtimesFile);
  const models = openModels(config, process.env, log);
  const git = await createGit({
    dataDir: config.dataDir,
    allowPrivate: config.allowPrivateRepos,
    sshKeys: config.sshKeys,
    hosts: config.gitHosts,
    log,
    limits: gitLimits,
    checkpoint,
    listed: () => metrics.gitListings.inc(),
    observe: (operation, ms, ok) =>
      metrics.gitSeconds.observe({ operation, outcome: ok ? "answered" : "failed" }, ms / 1000),
  });
  opened.push(() => git.close());
  const serverId = readServerId(config.dataDir);
  // before sessions are read and queues are created: from now on no other server takes them over
  const registered = { db: database.db, databaseKind: database.kind, serverId };
  const endHeartbeat = await startHeartbeat({ ...registered, log });
  opened.push(async () => endHeartbeat());
  const waiting = changes.changes ?? new Changes();
  const jobs = await openJobs(database, queuesOf({ serverId }), { changes: waiting, log });
  opened.push(() => jobs.stop());
  const events = openEvents(database, { changes: waiting, log, pollMs: eventsPollMs });
  opened.push(() => events.close());
  const address = { hostname: config.host, port: config.port };
  const api = () => address;
  const clock = () => new Date();
  const egress = createEgressGate({
    ...{ db: database.db, log, changes: waiting, limit: config.egress },
    clock: changes.clock ?? clock,
  });
  const sandboxes =
    changes.sandboxes ??
    (await createSandboxes(config, { installation: keys.fingerprint, api, customRuntimes, egress }));
  opened.push(() => sandboxes.close());
  const isolationLogged = logIsolation(sandboxes, log);
  opened.push(() => isolationLogged);
  const deps: Deps = {
    ...registered,
    git,
    jobs,
    sandboxes,
    customRuntimes,
    models,
    changes: waiting,
    events,
    activity: new Map(),
    liveTexts: new LiveTexts(),
    api,
    keys,
    outbound: createOutbound({ allowPrivate: config.allowPrivateAddresses }),
    txtRecords: createTxtRecords(),
    connections: openConnections(),
    config,
    log,
    metrics,
    clock,
    monotonic: () => performance.now(),
    databaseTime,
    mutex: new KeyedMutex(),
    verdicts: new Map(),
    checkpoint,
    ...changes,
  };
  return { deps, address, git, jobs, events, sandboxes, egress, endHeartbeat, isolationLogged };
}

/** Starts the background workers. @returns stops them */
async function startWork(
  deps: Deps,
  kinds: ReadonlyMap<string, RunKind>,
  manifestFeatures: readonly ManifestFeature[],
): Promise<() => Promise<void>> {
  const workers = [
    await startRunWorker(deps, kinds),
    await startSessionWorker(deps),
    await startAppWorker(deps),
    startPreviewWorker(deps),
    startCheckWorker(deps),
    startHostChecksWorker(deps),
    startAutoMergeWorker(deps),
    startQueueWorker(deps),
    startOwnerRequestWorker(deps),
    startDomainWorker(deps),
    startVolumeWorker(deps),
    startAuditWorker(deps),
  ];
  const endTriggers = startTriggerScheduler(deps);
  const endWebhooks = startWebhookWorker(deps);
  const endChannels = startChannelWorker(deps);
  const endNotifications = startNotificationWorker(deps);
  const endFollowing = await followDefaultBranches(deps, manifestFeatures, followHeads);
  return async () => {
    await Promise.all(workers.map((end) => end()));
    await Promise.all([endFollowing(), endTriggers(), endWebhooks(), endChannels(), endNotifications()]);
  };
}

function createLog(config: Config): Logger {
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
