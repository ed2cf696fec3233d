import type { Logger } from "pino";
import type { Database, Db } from "../db/client.ts";
import type { Config } from "./config.ts";
import type { CustomRuntime } from "./contract/runtimes.ts";
import type { Events } from "./events/events.ts";
import type { LiveTexts } from "./events/live-texts.ts";
import type { Comparison, Git } from "./git/git.ts";
import type { PushStep } from "./git/run/options.ts";
import type { Jobs } from "./jobs/queue.ts";
import type { Keys } from "./keys.ts";
import type { Changes } from "./lib/changes.ts";
import type { Connections } from "./lib/connections.ts";
import type { KeyedMutex } from "./lib/keyed-mutex.ts";
import type { Outbound } from "./lib/outbound.ts";
import type { TxtRecords } from "./lib/txt-records.ts";
import type { Metrics } from "./metrics.ts";
import type { Models } from "./models/models.ts";
import type { Sandboxes } from "./sandboxes/sandboxes.ts";

/** The dependencies of every feature; created once in `serve.ts` and passed as the first argument. */
export interface Deps {
  db: Db;
  databaseKind: Database["kind"];
  git: Git;
  jobs: Jobs;
  sandboxes: Sandboxes;
  /** The agents that the operator adds to those that svc knows. */
  customRuntimes: readonly CustomRuntime[];
  /** The upstreams of the model gateway. */
  models: Models;
  /** Notifies waiters in this process, by the id of a run or a session, or by the type of an event. */
  changes: Changes;
  /** Subscriptions to the events of projects. */
  events: Events;
  /** Sessions → when they were last used (`Date.now()`), until that is written to the database. */
  activity: Map<string, number>;
  /** Texts that agents are writing, for the streams of this server. */
  liveTexts: LiveTexts;
  /** This server's own id, kept in its data folder. */
  serverId: string;
  /** The address of the API; the port is final once the server listens. */
  api(): { hostname: string; port: number };
  keys: Keys;
  /** Sends requests to URLs that projects name. */
  outbound: Outbound;
  /** Looks up the proofs of domains. */
  txtRecords: TxtRecords;
  /** What is known of the services that connectors name. */
  connections: Connections;
  config: Config;
  log: Logger;
  metrics: Metrics;
  clock: () => Date;
  /** Milliseconds since an arbitrary time. Unlike `clock`, no one sets it. */
  monotonic: () => number;
  /** The database's time, by which all servers decide what is due. */
  databaseTime(db: Db): Promise<Date>;
  /** Merge verdicts, by project, commits and git version. */
  verdicts: Map<string, Comparison>;
  mutex: Pick<KeyedMutex, "run">;
  /** Called between the steps of a merge and of a push; a test ends the process or the database there. */
  checkpoint: (step: Step) => void | Promise<void>;
}

type Step =
  | MergeStep
  | QueueStep
  | PushStep
  | SessionStep
  | PromptStep
  | FiringStep
  | DeployStep
  | VolumeStep
  | PreviewStep
  | CheckStep
  | HostCheckStep
  | WebhookStep
  | NotificationStep
  | ChannelStep;

/** The steps of a session's start, stop and deletion. Each checkpoint is called after its step. */
export const SESSION_STEPS = [
  "branch-created",
  "keys-issued",
  "sandbox-started",
  "address-known",
  "cloned",
  "runtime-ready",
  "running-recorded",
  "sandbox-ended",
  "end-recorded",
] as const;
export type SessionStep = (typeof SESSION_STEPS)[number];

/** The steps of a deployment, besides those of its run. */
export const DEPLOY_STEPS = ["deploy-started", "deploy-settled"] as const;
export type DeployStep = (typeof DEPLOY_STEPS)[number];

/** Called when the data of a volume is removed, before its row is. */
export type VolumeStep = "volume-removed";

/** The steps of a preview of a change request, besides those of its deployments. */
export const PREVIEW_STEPS = ["preview-prepared", "preview-ended"] as const;
export type PreviewStep = (typeof PREVIEW_STEPS)[number];

/** Those of a check that svc runs, in their order; the last is instead of an end. */
export const CHECK_STEPS = [
  "checks-enqueued",
  "check-started",
  "check-running",
  "check-ended",
  "check-cancelled",
] as const;
export type CheckStep = (typeof CHECK_STEPS)[number];

/** Called when a git host has answered to the result of a check, before that is recorded. */
export type HostCheckStep = "check-reported-to-host";

/** The steps of a prompt. */
export const PROMPT_STEPS = ["prompt-marked", "prompt-sent", "prompt-recorded"] as const;
export type PromptStep = (typeof PROMPT_STEPS)[number];

/** The step of a firing, called before the transaction commits. */
export type FiringStep = "firing-recorded";

/** The steps of an attempt to deliver an event to a webhook. */
export type WebhookStep = "delivery-claimed" | "delivery-sent";

/** The steps of an attempt to notify a person. */
export type NotificationStep = "notification-claimed" | "notification-sent";

/** The steps of a task of a chat channel: claimed, the session or prompt made, and posted to the chat. */
export type ChannelStep = "channel-claimed" | "channel-prompted" | "channel-posted";

/** The steps of a merge, in order. */
export const MERGE_STEPS = ["commit-written", "intent-recorded", "pushed", "kept", "merge-recorded"] as const;
export type MergeStep = (typeof MERGE_STEPS)[number];

/** The steps of a merge queue before the merge itself, in order; the last comes after a branch of it is gone. */
export const QUEUE_STEPS = [
  "queue-entered",
  "queue-built",
  "queue-branch-recorded",
  "queue-branch-pushed",
  "queue-checks-enqueued",
  "queue-branch-deleted",
] as const;
export type QueueStep = (typeof QUEUE_STEPS)[number];
