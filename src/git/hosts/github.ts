import { STATE_OF_CONCLUSION } from "../../contract/check-run.ts";
import type { StatusState } from "../../contract/commit-status.ts";
import { commitAt, encodePath, entriesOf, type HostApi, statusAt, textOf, valueAt } from "./api.ts";
import type { HostStatus } from "./types.ts";

/** GitHub's REST API, "Git database: References", "Commit statuses" and "Check runs"; also of GitHub Enterprise Server and of ghe.com. */
export const github: HostApi = {
  base: (origin) => {
    const { host } = new URL(origin);
    return host === "github.com" || host.endsWith(".ghe.com") ? `https://api.${host}` : `${origin}/api/v3`;
  },
  headers: (token) => ({
    Authorization: `Bearer ${token}`,
    Accept: "application/vnd.github+json",
    // the version that every supported Enterprise Server supports, too
    "X-GitHub-Api-Version": "2022-11-28",
  }),
  repository: ([owner, name, ...rest]) =>
    owner && name && rest.length === 0
      ? `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
      : null,
  branch: (repository, branch) => `${repository}/git/ref/heads/${encodePath(branch)}`,
  newBranch: (repository, branch, commit) => ({
    path: `${repository}/git/refs`,
    body: { ref: `refs/heads/${branch}`, sha: commit },
  }),
  commitOf: (answer, branch) =>
    valueAt(answer, "ref") === `refs/heads/${branch}` ? commitAt(answer, "object", "sha") : null,
  // GitHub Actions report check runs only, which other tokens than those of apps may read, but not write
  statusPages: (repository, commit) => [
    `${repository}/commits/${commit}/status?per_page=100`,
    `${repository}/commits/${commit}/check-runs?per_page=100`,
  ],
  statusesOf: (answer) =>
    entriesOf(valueAt(answer, "statuses"), (entry) =>
      statusAt(entry, { context: "context", state: "state" }, STATES),
    ) ?? entriesOf(valueAt(answer, "check_runs"), readCheckRun),
  newStatus: (repository, commit, { context, state, description, targetUrl }) => ({
    path: `${repository}/statuses/${commit}`,
    body: { state, context, description, target_url: targetUrl },
  }),
  isRepeated: () => false,
};

const STATES = { error: "error", failure: "failure", pending: "pending", success: "success" } as const;

/** The conclusions of check runs that have ended. */
const CONCLUSIONS: Readonly<Record<string, StatusState>> = {
  ...STATE_OF_CONCLUSION,
  // of Actions, which nothing else can report
  startup_failure: "failure",
};

function readCheckRun(run: unknown): HostStatus | null {
  const [context, status, conclusion] = ["name", "status", "conclusion"].map((key) => valueAt(run, key));
  if (typeof context !== "string" || typeof status !== "string") return null;
  const ended = typeof conclusion === "string" && Object.hasOwn(CONCLUSIONS, conclusion) ? conclusion : "";
  return {
    context,
    // a conclusion that svc does not know lets nothing pass
    state: status !== "completed" ? "pending" : (CONCLUSIONS[ended] ?? "error"),
    description: textOf(valueAt(run, "output", "title")),
    targetUrl: textOf(valueAt(run, "html_url")) ?? textOf(valueAt(run, "details_url")),
  };
}
