import { commitAt, encodePath, type HostApi, valueAt } from "./api.ts";

/** The API of Gitea and of Forgejo, "repository". */
export const gitea: HostApi = {
  base: (origin) => `${origin}/api/v1`,
  headers: (token) => ({ Authorization: `token ${token}`, Accept: "application/json" }),
  repository: ([owner, name, ...rest]) =>
    owner && name && rest.length === 0
      ? `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
      : null,
  branch: (repository, branch) => `${repository}/branches/${encodePath(branch)}`,
  newBranch: (repository, branch, commit) => ({
    path: `${repository}/branches`,
    body: { new_branch_name: branch, old_ref_name: commit },
  }),
  commitOf: (answer, branch) =>
    valueAt(answer, "name") === branch ? commitAt(answer, "commit", "id") : null,
};
