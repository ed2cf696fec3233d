import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { setStatusBody } from "../../../contract/commit-status.ts";
import { githubCombinedStatus, githubStatus } from "../../../contract/github.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { commitOf, commitRef } from "../runs/query.ts";
import { checkRunsBelow } from "../runs/routes.ts";
import { setStatus } from "../set-status.ts";
import { githubCombinedStatusOf, toGithub } from "./statuses.ts";

const PREFIX = "/github/repos/:owner/:projectId";
/** The repository is named as the parameter that the guard reads: the slug of a project. */
const repository = {
  owner: Type.String({ description: "The slug of the account" }),
  projectId: Type.String({ description: "The slug of the project" }),
};
const params = Type.Object({ ...repository, sha: commitRef });

/**
 * The paths of GitHub's REST API for commit statuses and check runs, so that what reports to GitHub reports to svc with another
 * URL and token: `GITHUB_API_URL=https://svc.example.com/v1/github`.
 */
export const githubRoutes = (deps: Deps) =>
  new Elysia({ tags: ["checks"] })
    .use(guard(deps))
    .use(checkRunsBelow(deps, PREFIX, repository))
    .post(
      `${PREFIX}/statuses/:sha`,
      async ({ caller, project, params, body, set }) => {
        set.status = 201;
        return toGithub(await setStatus(deps, caller, project, params.sha, body));
      },
      { project: "report", params, body: setStatusBody, ...answer(201, githubStatus) },
    )
    .get(
      `${PREFIX}/commits/:sha/status`,
      async ({ project, params }) =>
        githubCombinedStatusOf(deps, project, await commitOf(deps, project, params.sha)),
      { project: "write", params, ...answer(200, githubCombinedStatus) },
    );
