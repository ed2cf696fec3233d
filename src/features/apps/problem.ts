import type { AppWithDeployments } from "../../contract/app.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { fetchHealth } from "../../sandboxes/daemon.ts";
import { reachRun } from "../runs/reach.ts";
import { getApp } from "./read.ts";
import type { AppName } from "./rows.ts";

/** Sandboxes are not trusted: only so many characters of a sentence are read. */
const PROBLEM_MAX = 500;

/** One app with its last deployments, and what is wrong with its program now. @throws not_found */
export async function showApp(deps: Deps, project: ProjectRow, name: AppName): Promise<AppWithDeployments> {
  const found = await getApp(deps, project, name);
  return { ...found, problem: await readProblem(deps, found) };
}

async function readProblem(deps: Deps, { app }: Pick<AppWithDeployments, "app">): Promise<string | null> {
  if (app.type !== "run" || app.live === null) return null;
  const reached = await reachRun(deps, app.live.deployment_id);
  if (!reached?.daemon || reached.run.status !== "running" || !isWithinReach(deps, reached.run)) return null;
  const health = await fetchHealth(reached.daemon);
  return health?.error?.message.slice(0, PROBLEM_MAX) ?? null;
}
