import { commitAt, encodePath, type HostApi, valueAt } from "./api.ts";

/** GitHub's REST API, "Git database: References"; also of GitHub Enterprise Server and of ghe.com. */
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
};
