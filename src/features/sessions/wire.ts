import { isAlive, type Session } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import { type Spent, usageOf } from "../models/spent.ts";
import type { SandboxRow } from "../runs/row.ts";
import { openRequest, type SessionRow } from "./row.ts";
import { titleOf } from "./title.ts";

/** A session with the row of its sandbox, and what its models have used. */
export interface FoundSession {
  session: SessionRow;
  sandbox: SandboxRow | null;
  spent: Spent | null;
}

/** A session as the API returns it, without its keys and its sandbox's address. */
export async function toWire(
  deps: Pick<Deps, "config" | "db" | "sandboxes">,
  found: FoundSession,
): Promise<Session> {
  return wireOf(deps, await namesOf(deps.db, [found.session.createdBy]), found);
}

/** As `toWire`, for many. */
export async function allToWire(
  deps: Pick<Deps, "config" | "db" | "sandboxes">,
  rows: readonly FoundSession[],
): Promise<Session[]> {
  const names = await namesOf(
    deps.db,
    rows.map(({ session }) => session.createdBy),
  );
  return rows.map((found) => wireOf(deps, names, found));
}

/** As `toWire`, with the names of users that `namesOf` has found. */
export function wireOf(
  { config, sandboxes }: Pick<Deps, "config" | "sandboxes">,
  names: ReadonlyMap<string, string>,
  { session: row, sandbox, spent }: FoundSession,
): Session {
  return {
    session_id: row.sessionId,
    project_id: row.projectId,
    account_id: row.accountId,
    branch_name: row.branchName,
    base_ref: row.baseRef,
    name: row.name,
    title: titleOf(row),
    tries_id: row.triesId,
    agent_name: row.agentName,
    model: row.model,
    mode: row.mode,
    effort: row.effort,
    runtime: row.runtime,
    status: row.status,
    step: row.step,
    blocked_on: isAlive(row) ? row.blockedOn : null,
    error: row.error,
    stop_reason: row.stopReason,
    sandbox_provider: row.provider,
    sandbox_url: `${config.publicUrl}/v1/p/${row.sessionId}/8000`,
    sandbox_status: sandbox?.state ?? null,
    ...activityOf(row),
    walls: wallsOf(sandboxes, row),
    setup: row.status === "provisioning" ? null : row.setup,
    saved: savedOf(row),
    ...usageOf(spent),
    created_by: row.createdBy,
    author: authorOf(names, row.createdBy, row.createdActor),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    last_active_at: row.lastActiveAt.toISOString(),
  };
}

function savedOf({
  savedCommit,
  savedAt,
  savedFiles,
  savedGeneration,
  generation,
  status,
}: SessionRow): Session["saved"] {
  if (savedCommit === null || savedAt === null) return null;
  const live = status === "running" && savedGeneration === generation;
  return { commit: savedCommit, at: savedAt.toISOString(), files: savedFiles, live };
}

function wallsOf(sandboxes: Deps["sandboxes"], row: SessionRow): Session["walls"] {
  const walls = isAlive(row) ? sandboxes.get(row.provider)?.wallsOf(row.sessionId) : null;
  return walls ? [...walls] : null;
}

function activityOf(row: SessionRow) {
  const { status, activity, activityAt, keptAt } = row;
  const request = openRequest(row);
  if (request?.kept)
    return {
      activity: "waiting" as const,
      activity_at: keptAt?.toISOString() ?? null,
      waiting_for: request,
    };
  const isKnown = status === "running" && activity !== null;
  return {
    activity: isKnown ? activity : null,
    activity_at: isKnown ? (activityAt?.toISOString() ?? null) : null,
    waiting_for: request,
  };
}
