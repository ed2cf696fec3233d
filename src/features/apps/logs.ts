import { and, desc, eq } from "drizzle-orm";
import { appDeployments, runs } from "../../../db/schema/index.ts";
import type { AppLogLine, AppLogs } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import { isAlive, type LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { endOf, readLog } from "../runs/log.ts";
import { readOutput } from "../runs/output.ts";
import { isLogged } from "./kind.ts";
import { type AppName, findAppByName } from "./rows.ts";
import { deploymentToWire } from "./wire.ts";

/**
 * The end of the log of one deployment, by default the newest: svc's own lines, and the output of the build and the
 * app.
 * @throws not_found
 */
export async function readAppLogs(
  deps: Deps,
  project: ProjectRow,
  name: AppName,
  { number, tail }: { number: number | null; tail: number },
): Promise<AppLogs> {
  const app = await findAppByName(deps.db, project, name);
  const [found] = await deps.db
    .select({ deployment: appDeployments, run: runs })
    .from(appDeployments)
    .leftJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(
      and(
        eq(appDeployments.appId, app.appId),
        number === null ? undefined : eq(appDeployments.number, number),
      ),
    )
    .orderBy(desc(appDeployments.number))
    .limit(1);
  if (!found && number !== null)
    throw new SvcError(
      "not_found",
      `Deployment ${number} of the app ${app.slug} not found: it does not exist, or is no longer kept.`,
    );
  if (!found) return { deployment: null, lines: [], truncated: false };
  const { deployment, run } = found;
  const kept = (await readLog(deps, deployment.deploymentId, tail + 1)).map(({ line }) => line);
  const output = run && isAlive(run) ? await readOutput(deps, run) : [];
  const fresh = output.filter((line) => run && !isLogged(run, line));
  const names = await namesOf(deps.db, [deployment.createdBy]);
  return {
    deployment: deploymentToWire(deployment, names),
    ...endOf([...kept, ...fresh].map(toAppLine), tail),
  };
}

/** The daemon prefixes each line with its source. */
function toAppLine({ at, source, text }: LogLine): AppLogLine {
  if (source !== "sandbox") return { at, source, text };
  const [, prefix, rest = text] = /^(agent|build|app) (.*)$/.exec(text) ?? [];
  return { at, source: prefix === "build" ? "build" : prefix === "app" ? "run" : "svc", text: rest };
}
