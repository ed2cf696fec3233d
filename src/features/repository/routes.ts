import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { branch, commit, directory, fileContents } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { listBranches } from "./branches.ts";
import { listCommits } from "./commits.ts";
import { readContents } from "./contents.ts";
import { listFiles } from "./files.ts";
import { downloadFile } from "./raw.ts";

const locationQuery = {
  ref: Type.Optional(
    Type.String({
      description:
        "A branch, a tag, refs/heads/…, refs/tags/… or a full commit id; the default branch if omitted",
    }),
  ),
  path: Type.Optional(Type.String({ description: "From the root of the repository" })),
  path_base64: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9+/_-]*={0,2}$",
      description: "Instead of path, for a path that is not UTF-8",
    }),
  ),
};

/** The contents of a project's repository. Requires write access to the project. */
export const repositoryRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId", tags: ["repository"] })
    .use(guard(deps))
    .get("/branches", ({ project, query }) => listBranches(deps, project, readPage(query)), {
      project: "write",
      query: Type.Object(pageQuery),
      ...answer(200, listOf("branches", branch)),
    })
    .get("/commits", ({ project, query }) => listCommits(deps, project, query, readPage(query)), {
      project: "write",
      query: Type.Object({ ...locationQuery, ...pageQuery }),
      ...answer(200, listOf("commits", commit)),
    })
    .get("/files", ({ project, query }) => listFiles(deps, project, query, readPage(query)), {
      project: "write",
      query: Type.Object({ ...locationQuery, ...pageQuery }),
      ...answer(200, directory),
    })
    .get(
      "/contents",
      ({ project, query, headers }) =>
        headers["accept"]?.includes("application/octet-stream")
          ? downloadFile(deps, project, query)
          : readContents(deps, project, query),
      { project: "write", query: Type.Object(locationQuery), ...answer(200, fileContents) },
    );
