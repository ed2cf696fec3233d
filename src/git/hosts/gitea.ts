import { commitAt, encodePath, entriesOf, type HostApi, statusAt, valueAt } from "./api.ts";

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
  // a page has 50 at most, unless the operator changed that
  statusPages: (repository, commit) =>
    [1, 2].map((page) => `${repository}/commits/${commit}/status?page=${page}&limit=50`),
  statusesOf: (answer) => {
    const listed = valueAt(answer, "statuses");
    // of a page without any
    if (listed === null) return [];
    return entriesOf(listed, (entry) => statusAt(entry, { context: "context", state: "status" }, STATES));
  },
  newStatus: (repository, commit, { context, state, description, targetUrl }) => ({
    path: `${repository}/statuses/${commit}`,
    body: { state, context, description: description ?? "", target_url: targetUrl ?? "" },
  }),
  isRepeated: () => false,
};

const STATES = {
  ...({ error: "error", failure: "failure", pending: "pending", success: "success" } as const),
  ...({ warning: "success", skipped: "success" } as const),
};
