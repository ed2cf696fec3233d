import { type Static, Type } from "@sinclair/typebox";

/** One problem as it crosses the wire: a `ManifestError`. */
const problem = Type.Object({
  path: Type.String({ description: "The key, such as triggers[0].cron" }),
  message: Type.String(),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  severity: Type.Union([Type.Literal("error"), Type.Literal("warning")]),
});
const path = Type.String({ description: "Where the manifest is in the repository" });
const slugs = Type.Array(Type.String());

/** Answer of `GET /v1/projects/:id/change-requests/:crId/manifest`. */
export const changeRequestManifest = Type.Object({
  path,
  changed: Type.Boolean({ description: "Whether the change request changes the manifest itself" }),
  errors: Type.Array(problem, {
    description:
      "Of the manifest as a merge would leave it; where it is not changed, only those that the change request adds",
  }),
});
export type ChangeRequestManifest = Static<typeof changeRequestManifest>;

/** Answer of `GET /v1/projects/:id/manifest`: what the default branch says now. */
export const projectManifest = Type.Object({
  path,
  commit: Type.Union([Type.String(), Type.Null()], {
    description: "Null of a repository without the branch",
  }),
  errors: Type.Array(problem),
  project: Type.Object({ name: Type.Union([Type.String(), Type.Null()]) }),
  triggers: slugs,
  apps: slugs,
});
export type ProjectManifest = Static<typeof projectManifest>;
