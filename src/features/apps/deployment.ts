import { eq } from "drizzle-orm";
import { appDeployments } from "../../../db/schema/index.ts";
import { DAEMON_PORT, type DaemonApp } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { gitUrlOf } from "../projects/wire.ts";
import type { RunRow } from "../runs/row.ts";
import { type OpenSecrets, openSecrets } from "../secrets/open.ts";

/** The app that the sandbox of a deployment builds and runs. @throws when the deployment is deleted */
export async function readDeployment(
  deps: Pick<Deps, "db" | "keys">,
  { runId, projectId }: Pick<RunRow, "runId" | "projectId">,
): Promise<DaemonApp> {
  const [row] = await deps.db
    .select({ commit: appDeployments.commit, entry: appDeployments.entry })
    .from(appDeployments)
    .where(eq(appDeployments.deploymentId, runId));
  if (!row) throw new Error("the deployment is deleted");
  const { slug, rootPath, build, run, env } = row.entry;
  const { values: buildSecrets } = await openSecrets(deps, projectId, ["builds"]);
  const output = row.entry.static?.dir ?? null;
  return { slug, commit: row.commit, rootPath, build, run, output, env, buildSecrets };
}

/**
 * The environment of a deployment's sandbox: the daemon's variables, and the secrets of the app and its build. The
 * daemon's key is the only credential for svc.
 * @param apiUrl where the sandbox reaches the API, without `/v1`
 */
export function deploymentEnvironment(
  { run, project, app }: { run: RunRow; project: ProjectRow; app: DaemonApp },
  serviceKey: string,
  secrets: OpenSecrets,
  apiUrl: string,
): Record<string, string> {
  return {
    ...secrets.values,
    SVC_PROJECT_ID: project.projectId,
    SVC_SESSION_ID: run.runId,
    SVC_BRANCH_NAME: project.defaultBranch,
    SVC_REPO_URL: gitUrlOf(apiUrl, project.projectId),
    SVC_SERVICE_PORT: String(DAEMON_PORT),
    SVC_API_URL: `${apiUrl}/v1`,
    SVC_PROJECT_SECRET_NAMES: Object.keys(secrets.values).join(","),
    SVC_PROJECT_SECRETS_REVISION: secrets.revision,
    SVC_TOKEN: serviceKey,
    SVC_APP: JSON.stringify(app),
  };
}
