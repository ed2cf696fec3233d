import type { App, AppState, Deployment } from "../../contract/app.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { authorOf } from "../../identity/auth/actor.ts";
import type { RunRow } from "../runs/row.ts";
import { isPublic } from "./access.ts";
import { urlOf } from "./domains/rows.ts";
import { type AppRow, type DeploymentRow, deployCommand } from "./rows.ts";
import { originOf } from "./site.ts";
import { usesVolume, type VolumeRow } from "./volumes/take.ts";

/** An app with the deployments that the API returns with it. */
export interface AppView {
  app: AppRow;
  live: DeploymentRow | null;
  wanted: DeploymentRow | null;
  /** The newest, in any state. */
  last: DeploymentRow | null;
  /** The first of its proven domains. */
  domain: string | null;
  /** The run of the live deployment; null if it has none. */
  run: RunRow | null;
  names: Names;
  /** Null: it has none, also if its first deployment is in progress. */
  volume: Pick<VolumeRow, "bytes"> | null;
  /** A preview that waits until its project runs fewer previews. */
  waitsForRoom: boolean;
}

/** The names of the users who deployed, by their ids. */
export type Names = ReadonlyMap<string, string>;

export function toWire(deps: Pick<Deps, "config" | "api">, view: AppView): App {
  const { app, live, wanted, domain, names } = view;
  const url = `${originOf(deps, app.label)}/`;
  return {
    app_id: app.appId,
    slug: app.slug,
    change_request: app.crNumber,
    name: app.entry.name,
    type: app.entry.run ? "run" : "static",
    root_path: app.entry.rootPath,
    enabled: app.presence === "enabled",
    access: app.crId === null && app.entry.access === "public" ? "public" : "members",
    auto_deploy: !app.isPinned,
    state: stateOf(view),
    error: errorOf(view),
    url,
    public_url: !isPublic(deps, app) ? null : domain === null ? url : urlOf(deps, domain),
    volume: volumeOf(view),
    live: live && deploymentToWire(live, names),
    next: wanted && deploymentToWire(wanted, names),
    updated_at: app.updatedAt.toISOString(),
  };
}

function volumeOf({ app, volume }: AppView): App["volume"] {
  const path = app.entry.run?.volume ?? null;
  return path === null && volume === null ? null : { path, bytes: volume?.bytes ?? null };
}

export function deploymentToWire(row: DeploymentRow, names: Names): Deployment {
  return {
    deployment_id: row.deploymentId,
    number: row.number,
    state: row.state,
    reason: row.reason,
    commit: row.commit,
    previous_commit: row.previousCommit,
    rollback_to: row.rollbackTo,
    error: row.error,
    created_by: row.createdBy,
    author: row.createdBy === null ? null : authorOf(names, row.createdBy, row.createdActor),
    created_at: row.createdAt.toISOString(),
    live_at: row.liveAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}

function stateOf({ app, live, wanted, last, run }: AppView): AppState {
  if (app.presence !== "enabled") return "disabled";
  if (app.isStopped) return "stopped";
  if (live) return isServed(live, run) ? "live" : "down";
  if (wanted) return "deploying";
  if (isWaiting(app)) return "waiting";
  return last?.state === "failed" ? "failed" : "waiting";
}

/** Whether a preview has a head that is not deployed yet, or was asked to be deployed again. */
export function isWaiting({ crId, consideredCommit, commit }: AppRow): boolean {
  return crId !== null && consideredCommit !== commit;
}

/** Whether the live deployment is a site, or its sandbox runs. */
function isServed({ entry }: DeploymentRow, run: RunRow | null): boolean {
  return entry.run === null || run?.status === "running";
}

function errorOf({ app, live, wanted, last, run, waitsForRoom }: AppView): string | null {
  if (app.crId !== null && app.isStopped)
    return `It was not in use, and made room for another preview. To start it: ${deployCommand(app)}`;
  if (waitsForRoom)
    return "It waits until another preview ends: the project runs as many as it may at once (SVC_PREVIEW_CAP).";
  if (app.presence !== "enabled" || app.isStopped) return null;
  if (live && wanted && usesVolume(live) && usesVolume(wanted) && !isServed(live, run))
    return `Deployment ${live.number} was stopped for deployment ${wanted.number}, which uses the same volume.`;
  if (live && !isServed(live, run)) return `${whyDown(run)} It restarts automatically.`;
  if (wanted || isWaiting(app) || last?.state !== "failed" || last.deploymentId === live?.deploymentId)
    return null;
  return last.error;
}

function whyDown(run: RunRow | null): string {
  if (run && isAlive(run)) return "The app's sandbox is being started.";
  return run?.error ?? "The app's sandbox has ended.";
}
