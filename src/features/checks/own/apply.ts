import { eq } from "drizzle-orm";
import { projectManifests } from "../../../../db/schema/index.ts";
import type { ManifestFeature } from "../../manifest/feature.ts";

/** Stores the checks of the manifest on the default branch: only merged changes decide what is checked. */
export const applyChecks: ManifestFeature = async (_, { project, manifest }) => {
  return async (tx) => {
    await tx
      .update(projectManifests)
      .set({ checks: manifest.ownChecks })
      .where(eq(projectManifests.projectId, project.projectId));
    return [];
  };
};
