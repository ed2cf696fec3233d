import { eq } from "drizzle-orm";
import { checks } from "../../../../db/schema/index.ts";
import { DAEMON_PORT, type DaemonApp } from "../../../contract/daemon.ts";
import type { BootStep } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { SandboxError } from "../../../sandboxes/provider.ts";
import { gitUrlOf } from "../../projects/wire.ts";
import type { RunKind, Start, StartPlan } from "../../runs/kind.ts";
import { openSecrets } from "../../secrets/open.ts";

/** Time to clone a large repository. */
const CLONE_MS = 45 * 60_000;
/** The command starts at once. */
const READY_MS = 60_000;
const LATE = "The commit could not be checked out,";

/** The run of a check: its sandbox is `running` while the command runs, and is stopped after that. */
export const checkRuns: RunKind = {
  name: "check",
  limits: {
    clone: { stillMs: CLONE_MS, longestMs: CLONE_MS },
    ready: { stillMs: READY_MS, longestMs: READY_MS },
  },
  text: {
    starting: "Starting the check …",
    running: "The check runs.",
    stopped: "The sandbox has ended.",
    cloneLate: LATE,
    readyLate: LATE,
    failed: (step, reason) => (FAILED[step] === undefined ? reason : `${FAILED[step]}: ${reason}`),
    lost: (_, reason) => `The sandbox of the check is lost: ${reason}`,
  },
  keptLines: 2_000,
  plan,
  // rounds read the rows of runs (`worker.ts`)
  async publish() {},
};

const FAILED: Partial<Record<BootStep, string>> = {
  image: "The sandbox's image could not be built",
  sandbox: "The sandbox could not be started",
};

async function plan(deps: Deps, { run, project }: Start): Promise<StartPlan> {
  const [row] = await deps.db.select().from(checks).where(eq(checks.runId, run.runId));
  if (!row) throw new Error("the check is deleted");
  const { entry, sha, headRef } = row;
  const secrets = await openSecrets(deps, project.projectId, ["checks"], entry.secrets);
  const missing = entry.secrets.filter((name) => !Object.hasOwn(secrets.values, name));
  if (missing.length > 0)
    throw new SandboxError(
      `The project has no secret ${missing.join(", ")} for checks. Set it: svc secrets set ${missing[0]} --for checks`,
    );
  const app: DaemonApp = {
    slug: entry.name,
    commit: sha,
    rootPath: ".",
    build: null,
    run: null,
    output: null,
    env: {},
    buildSecrets: {},
    check: { name: entry.name, command: entry.command, timeoutMs: entry.timeoutMinutes * 60_000 },
  };
  return {
    runtime: null,
    // the daemon's key is the only credential for svc, and the command does not get it
    environment: ({ serviceKey }, apiUrl) => ({
      ...secrets.values,
      SVC_PROJECT_ID: project.projectId,
      SVC_SESSION_ID: run.runId,
      SVC_BRANCH_NAME: headRef,
      SVC_REPO_URL: gitUrlOf(apiUrl, project.projectId),
      SVC_SERVICE_PORT: String(DAEMON_PORT),
      SVC_API_URL: `${apiUrl}/v1`,
      SVC_PROJECT_SECRET_NAMES: Object.keys(secrets.values).join(","),
      SVC_PROJECT_SECRETS_REVISION: secrets.revision,
      SVC_TOKEN: serviceKey,
      SVC_APP: JSON.stringify(app),
    }),
  };
}
