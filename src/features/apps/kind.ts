import type { BootStep, LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { APPS_QUEUE } from "../../jobs/places.ts";
import type { RunKind, Start, StartPlan } from "../runs/kind.ts";
import { readOutput, writeLines } from "../runs/output.ts";
import type { RunRow } from "../runs/row.ts";
import { openSecrets } from "../secrets/open.ts";
import { deploymentEnvironment, readDeployment } from "./deployment.ts";
import { takeSite } from "./take-site.ts";

/** A large repository is cloned in minutes, and then its app is built. */
const BUILD_MS = 45 * 60_000;
/** The daemon reports before that why an app does not answer. */
const ANSWER_MS = 5 * 60_000;
const LATE = "The app was not built and did not answer in time.";

/** The run of a deployment: the default branch's app, built and kept running. */
export const deploymentRuns: RunKind = {
  name: "deployment",
  limits: { cloneMs: BUILD_MS, readyMs: ANSWER_MS },
  text: {
    starting: "Starting the app …",
    running: "The app answers.",
    stopped: "The app has stopped.",
    cloneLate: LATE,
    readyLate: LATE,
    failed: (step, reason) => (FAILED[step] === undefined ? reason : `${FAILED[step]}: ${reason}`),
    lost: (_, reason) => `The app's sandbox is lost: ${reason}`,
  },
  plan,
  isLogged,
  async publish(deps, tx, { runId }) {
    await deps.jobs.enqueue(tx, APPS_QUEUE, runId);
  },
};

/** What the daemon says of its clone, build and app explains itself. */
const FAILED: Partial<Record<BootStep, string>> = {
  image: "The sandbox's image could not be built",
  sandbox: "The sandbox could not be started",
};

async function plan(deps: Deps, { run, project }: Start): Promise<StartPlan> {
  const app = await readDeployment(deps, run);
  const secrets = await openSecrets(deps, project.projectId, ["apps", `apps:${app.slug}`], null);
  return {
    hasRuntime: false,
    environment: ({ serviceKey }, apiUrl) =>
      deploymentEnvironment({ run, project, app }, serviceKey, secrets, apiUrl),
    async onReady(daemon, signal) {
      if (app.build) await keepBuildLog(deps, run);
      if (app.output) await takeSite(deps, daemon, signal);
    },
  };
}

/** The daemon of a deployment begins the lines of its build so (`daemon/log.ts`). */
const BUILD = "build ";
/** Of a build that has worked: enough to see what it did. */
const KEPT_BUILD_LINES = 1_000;

/** Writes the output of a deployment's build into its log, before the app's output takes its place. */
async function keepBuildLog(deps: Deps, run: RunRow): Promise<void> {
  const lines = (await readOutput(deps, run)).filter(isOfBuild).slice(-KEPT_BUILD_LINES);
  const built = lines.map(({ at, text }) => ({
    at,
    source: "build" as const,
    text: text.slice(BUILD.length),
  }));
  await writeLines(deps, run.runId, built);
}

/** Whether the log has a line of the sandbox's output already: those of its build, once it runs. */
export function isLogged({ status }: Pick<RunRow, "status">, line: LogLine): boolean {
  return status === "running" && isOfBuild(line);
}

function isOfBuild({ source, text }: LogLine): boolean {
  return source === "sandbox" && text.startsWith(BUILD);
}
