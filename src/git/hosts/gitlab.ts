import type { StatusState } from "../../contract/commit-status.ts";
import { commitAt, entriesOf, type HostApi, statusAt, valueAt } from "./api.ts";
import type { HostStatus } from "./types.ts";

/** GitLab's REST API, "Branches" and "Commits: Commit status". */
export const gitlab: HostApi = {
  base: (origin) => `${origin}/api/v4`,
  // works for personal, project and group access tokens and OAuth; PRIVATE-TOKEN does not work for OAuth
  headers: (token) => ({ Authorization: `Bearer ${token}`, Accept: "application/json" }),
  repository: (segments) =>
    segments.length >= 2 ? `/projects/${encodeURIComponent(segments.join("/"))}` : null,
  branch: (repository, branch) => `${repository}/repository/branches/${encodeURIComponent(branch)}`,
  newBranch: (repository, branch, commit) => ({
    path: `${repository}/repository/branches?${new URLSearchParams({ branch, ref: commit })}`,
    body: null,
  }),
  commitOf: (answer, branch) =>
    valueAt(answer, "name") === branch ? commitAt(answer, "commit", "id") : null,
  statusPages: (repository, commit) => [`${repository}/repository/commits/${commit}/statuses?per_page=100`],
  statusesOf: (answer) => entriesOf(answer, readStatus),
  newStatus: (repository, commit, { context, state, description, targetUrl }) => ({
    path: `${repository}/statuses/${commit}`,
    body: { state: REPORTED[state], name: context, description, target_url: targetUrl },
  }),
  // it refuses to change a status into the state that it has
  isRepeated: (answer) => {
    const words = valueAt(answer, "message");
    return typeof words === "string" && words.startsWith("Cannot transition status");
  },
};

/** Jobs that wait for a person (`manual`) are none of them: most never run. */
const STATES: Readonly<Record<string, StatusState>> = {
  created: "pending",
  waiting_for_resource: "pending",
  waiting_for_callback: "pending",
  preparing: "pending",
  pending: "pending",
  running: "pending",
  scheduled: "pending",
  success: "success",
  skipped: "success",
  failed: "failure",
  canceling: "error",
  canceled: "error",
};

const REPORTED: Readonly<Record<StatusState, string>> = {
  pending: "pending",
  success: "success",
  failure: "failed",
  error: "failed",
};

function readStatus(entry: unknown): HostStatus | null {
  const status = statusAt(entry, { context: "name", state: "status" }, STATES);
  const mayFail = valueAt(entry, "allow_failure") === true;
  return status && { ...status, state: mayFail && status.state === "failure" ? "success" : status.state };
}
