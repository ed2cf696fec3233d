import type { LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { APPS_QUEUE } from "../../jobs/places.ts";
import { type RunKind, type Start, type StartPlan, stepFailure } from "../runs/kind.ts";
import { readOutput, writeLines } from "../runs/output.ts";
import { programEnvironment } from "../runs/program-environment.ts";
import type { RunRow } from "../runs/row.ts";
import { openSecrets } from "../secrets/open.ts";
import { copySite } from "./copy-site.ts";
import { readDeployment } from "./deployment.ts";

/** To clone a large repository and to build its app. A build may wait for downloads. */
const CLONE_AND_BUILD = { stillMs: 15 * 60_000, longestMs: 2 * 60 * 60_000 };
/** Longer than the daemon's own limit, after which it reports why the app does not answer. */
const ANSWER_MS = 5 * 60_000;
const LATE = "The app was not built, or did not answer,";

/** The run of a deployment: an app of the default branch or a change request, built and kept running. */
export const deploymentRuns: RunKind = {
  name: "deployment",
  hasServices: false,
  limits: {
    clone: CLONE_AND_BUILD,
    ready: { stillMs: ANSWER_MS, longestMs: ANSWER_MS },
  },
  text: {
    starting: "Starting the app …",
    running: "The app answers.",
    stopped: "The app has stopped.",
    cloneLate: LATE,
    readyLate: LATE,
    failed: stepFailure,
    lost: (_, reason) => `The app's sandbox is lost: ${reason}`,
  },
  plan,
  isLogged,
  async publish(deps, tx, { runId }) {
    await deps.jobs.enqueue(tx, APPS_QUEUE, runId);
  },
};

async function plan(deps: Deps, { run, project }: Start): Promise<StartPlan> {
  const { app, branch, audience, volume } = await readDeployment(deps, run);
  const secrets = await openSecrets(deps, project.projectId, audience, null);
  return {
    runtime: null,
    ...(volume && { volume }),
    environment: ({ serviceKey }, apiUrl) =>
      programEnvironment(
        { run, project, branch: branch ?? project.defaultBranch, app, secrets },
        serviceKey,
        apiUrl,
      ),
    async onReady(daemon, signal) {
      if (app.build) await keepBuildLog(deps, run);
      if (app.output) await copySite(deps, daemon, signal);
    },
  };
}

/** The prefix of a build's lines in the daemon's output (`daemon/log.ts`). */
const BUILD = "build ";
/** Lines kept of a successful build. */
const KEPT_BUILD_LINES = 1_000;

/** Writes the output of a deployment's build to its log, before the app's output replaces it. */
async function keepBuildLog(deps: Deps, run: RunRow): Promise<void> {
  const lines = (await readOutput(deps, run)).filter(isOfBuild).slice(-KEPT_BUILD_LINES);
  const built = lines.map(({ at, text }) => ({
    at,
    source: "build" as const,
    text: text.slice(BUILD.length),
  }));
  await writeLines(deps, run.runId, built);
}

/** Whether the log has a line of the sandbox's output already: once the app runs, the lines of its build. */
export function isLogged({ status }: Pick<RunRow, "status">, line: LogLine): boolean {
  return status === "running" && isOfBuild(line);
}

function isOfBuild({ source, text }: LogLine): boolean {
  return source === "sandbox" && text.startsWith(BUILD);
}
