import { commitAt, type HostApi, valueAt } from "./api.ts";

/** GitLab's REST API, "Branches". */
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
};
