import { isDeepStrictEqual } from "node:util";
import { and, eq, notInArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { connectorSecrets, connectors } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectChange } from "../../events/publish.ts";
import { updateSandboxes } from "../../jobs/update-sandboxes.ts";
import type { ManifestFeature } from "../manifest/feature.ts";
import { type ConnectorRow, connectorsOf } from "./row.ts";

/**
 * Applies the connectors of the manifest on a project's default branch. The secrets that they name, or have named until
 * then, are taken from, or given back to, the running sandboxes.
 */
export const applyConnectors: ManifestFeature = async (
  deps,
  { project: { projectId }, commit, manifest },
) => {
  const entries = manifest.connectors.map((entry, position) => ({ ...entry, projectId, position, commit }));
  return async (tx) => {
    const changes = await replace(tx, projectId, entries);
    await hold(deps, tx, projectId, manifest.connectorSecrets);
    return changes;
  };
};

async function replace(
  tx: Db,
  projectId: string,
  entries: readonly ConnectorRow[],
): Promise<ProjectChange[]> {
  const before = new Map((await connectorsOf(tx, { projectId })).map((row) => [row.slug, row]));
  const changes: ProjectChange[] = [];
  for (const entry of entries) {
    const known = before.get(entry.slug);
    before.delete(entry.slug);
    if (isDeepStrictEqual(known, entry)) continue;
    await tx
      .insert(connectors)
      .values(entry)
      .onConflictDoUpdate({ target: [connectors.projectId, connectors.slug], set: entry });
    // a commit that leaves the entry as it was is no change of the connector
    if (!isDeepStrictEqual({ ...known, commit: entry.commit }, entry))
      changes.push({ type: "connector", id: entry.slug, action: known ? "changed" : "created" });
  }
  for (const slug of before.keys()) {
    await tx.delete(connectors).where(and(eq(connectors.projectId, projectId), eq(connectors.slug, slug)));
    changes.push({ type: "connector", id: slug, action: "deleted" });
  }
  return changes;
}

/** Records the secrets that no sandbox gets. */
async function hold(deps: Deps, tx: Db, projectId: string, names: readonly string[]): Promise<void> {
  const ofProject = eq(connectorSecrets.projectId, projectId);
  const others = and(ofProject, notInArray(connectorSecrets.name, [...names]));
  const released = await tx
    .delete(connectorSecrets)
    .where(names.length === 0 ? ofProject : others)
    .returning({ name: connectorSecrets.name });
  const held =
    names.length === 0
      ? []
      : await tx
          .insert(connectorSecrets)
          .values(names.map((name) => ({ projectId, name })))
          .onConflictDoNothing()
          .returning({ name: connectorSecrets.name });
  if (released.length + held.length > 0) await updateSandboxes(deps, tx, [projectId]);
}
