import { type Static, Type } from "@sinclair/typebox";

/** One problem as it crosses the wire: a `ManifestError`. */
const problem = Type.Object({
  path: Type.String({ description: "The key, such as triggers[0].cron" }),
  message: Type.String(),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  severity: Type.Union([Type.Literal("error"), Type.Literal("warning")]),
});
const path = Type.String({ description: "Path of the manifest in the repository" });
const slugs = Type.Array(Type.String());

/** Answer of `GET /v1/projects/:id/change-requests/:crId/manifest`. */
export const changeRequestManifest = Type.Object({
  path,
  changed: Type.Boolean({ description: "Whether the change request changes the manifest itself" }),
  errors: Type.Array(problem, {
    description:
      "Of the manifest after a merge; if the change request does not change it, only those that it adds",
  }),
  opens: Type.Array(Type.String(), {
    description: "The slugs of the apps that a merge opens to the public",
  }),
});
export type ChangeRequestManifest = Static<typeof changeRequestManifest>;

/** Answer of `GET /v1/projects/:id/manifest`: the manifest on the default branch. */
export const projectManifest = Type.Object({
  path,
  commit: Type.Union([Type.String(), Type.Null()], {
    description: "Null if the repository does not have the branch",
  }),
  errors: Type.Array(problem),
  project: Type.Object({ name: Type.Union([Type.String(), Type.Null()]) }),
  triggers: slugs,
  apps: slugs,
});
export type ProjectManifest = Static<typeof projectManifest>;
