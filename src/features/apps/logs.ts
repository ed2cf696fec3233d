import { and, desc, eq } from "drizzle-orm";
import { appDeployments, runs } from "../../../db/schema/index.ts";
import type { AppLogLine, AppLogs } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import { isAlive, type LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { endOf, readLog } from "../runs/log.ts";
import { readOutput } from "../runs/output.ts";
import { isLogged } from "./kind.ts";
import { findAppBySlug } from "./rows.ts";
import { deploymentToWire } from "./wire.ts";

/**
 * The end of the log of one deployment, by default the newest: what svc did, what its build said, and what the app says.
 * @throws not_found
 */
export async function readAppLogs(
  deps: Deps,
  project: ProjectRow,
  slug: string,
  { number, tail }: { number: number | null; tail: number },
): Promise<AppLogs> {
  const app = await findAppBySlug(deps.db, project, slug);
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
    throw new SvcError("not_found", `The app ${slug} has no deployment ${number}, or it is no more kept.`);
  if (!found) return { deployment: null, lines: [], truncated: false };
  const { deployment, run } = found;
  const kept = (await readLog(deps, deployment.deploymentId, tail + 1)).map(({ line }) => line);
  const output = run && isAlive(run) ? await readOutput(deps, run) : [];
  const fresh = output.filter((line) => run && !isLogged(run, line));
  return { deployment: deploymentToWire(deployment), ...endOf([...kept, ...fresh].map(toAppLine), tail) };
}

/** The daemon says of each line whose it is. */
function toAppLine({ at, source, text }: LogLine): AppLogLine {
  if (source !== "sandbox") return { at, source, text };
  const [, whose, rest = text] = /^(agent|build|app) (.*)$/.exec(text) ?? [];
  return { at, source: whose === "build" ? "build" : whose === "app" ? "run" : "svc", text: rest };
}
