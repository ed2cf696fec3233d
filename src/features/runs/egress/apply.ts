import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { runs, sessionSandboxes } from "../../../../db/schema/index.ts";
import type { ManifestFeature } from "../../manifest/feature.ts";

/**
 * `[network] allow` of the default branch: applies to running sandboxes within seconds, so that an agent can go on once
 * a host is allowed. The mode is fixed when a sandbox starts, since the rules of its network are.
 */
export const applyEgress: ManifestFeature =
  async (_, { project, manifest }) =>
  async (tx, now) => {
    const allow = JSON.stringify(manifest.network.allow);
    const ofProject = tx
      .select({ runId: runs.runId })
      .from(runs)
      .where(eq(runs.projectId, project.projectId));
    await tx
      .update(sessionSandboxes)
      .set({ egress: sql`jsonb_set(${sessionSandboxes.egress}, '{allow}', ${allow}::jsonb)`, updatedAt: now })
      .where(
        and(
          inArray(sessionSandboxes.runId, ofProject),
          inArray(sessionSandboxes.state, ["provisioning", "active"]),
          isNotNull(sessionSandboxes.egress),
        ),
      );
    return [];
  };
