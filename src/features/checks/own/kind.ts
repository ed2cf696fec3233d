import { eq } from "drizzle-orm";
import { checks } from "../../../../db/schema/index.ts";
import type { DaemonApp } from "../../../contract/daemon.ts";
import type { Deps } from "../../../deps.ts";
import { SandboxError } from "../../../sandboxes/provider.ts";
import { type RunKind, type Start, type StartPlan, stepFailure } from "../../runs/kind.ts";
import { programEnvironment } from "../../runs/program-environment.ts";
import { openSecrets } from "../../secrets/open.ts";

/** As of a session. */
const CLONE = { stillMs: 5 * 60_000, longestMs: 60 * 60_000 };
/** The command starts at once. */
const READY = { stillMs: 60_000, longestMs: 10 * 60_000 };
const LATE = "The commit could not be checked out,";

/** The run of a check: its sandbox is `running` while the command runs, and is stopped after that. */
export const checkRuns: RunKind = {
  name: "check",
  hasServices: true,
  limits: {
    clone: CLONE,
    ready: READY,
  },
  text: {
    starting: "Starting the check …",
    running: "The check runs.",
    stopped: "The sandbox has ended.",
    cloneLate: LATE,
    readyLate: LATE,
    failed: stepFailure,
    lost: (_, reason) => `The sandbox of the check is lost: ${reason}`,
  },
  keptLines: 2_000,
  plan,
  // rounds read the rows of runs (`worker.ts`)
  async publish() {},
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
    healthPath: null,
    output: null,
    env: {},
    buildSecrets: {},
    check: { name: entry.name, command: entry.command, timeoutMs: entry.timeoutMinutes * 60_000 },
  };
  return {
    runtime: null,
    environment: ({ serviceKey }, apiUrl) =>
      programEnvironment({ run, project, branch: headRef, app, secrets }, serviceKey, apiUrl),
  };
}
