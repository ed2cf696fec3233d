import { DAEMON_PORT, type DaemonApp } from "../../contract/daemon.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { gitUrlOf } from "../projects/wire.ts";
import type { OpenSecrets } from "../secrets/open.ts";
import type { RunRow } from "./row.ts";

interface Program {
  run: Pick<RunRow, "runId">;
  project: Pick<ProjectRow, "projectId">;
  /** The branch that is cloned. */
  branch: string;
  app: DaemonApp;
  secrets: OpenSecrets;
}

/**
 * The environment of a sandbox without an agent, which runs an app or a check: the daemon's variables, and the secrets of
 * the program. The daemon's key is the only credential for svc, and the program does not get it.
 * @param apiUrl where the sandbox reaches the API, without `/v1`
 */
export function programEnvironment(
  { run, project, branch, app, secrets }: Program,
  serviceKey: string,
  apiUrl: string,
): Record<string, string> {
  return {
    ...secrets.values,
    SVC_PROJECT_ID: project.projectId,
    SVC_SESSION_ID: run.runId,
    SVC_BRANCH_NAME: branch,
    SVC_REPO_URL: gitUrlOf(apiUrl, project.projectId),
    SVC_SERVICE_PORT: String(DAEMON_PORT),
    SVC_API_URL: `${apiUrl}/v1`,
    SVC_PROJECT_SECRET_NAMES: Object.keys(secrets.values).join(","),
    SVC_PROJECT_SECRETS_REVISION: secrets.revision,
    SVC_TOKEN: serviceKey,
    SVC_APP: JSON.stringify(app),
  };
}
