import { and, eq, inArray, isNull } from "drizzle-orm";
import { appDeployments, apps, runs, volumes } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { isAlive } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { shorten } from "../../../http/text.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { appChange } from "../rows.ts";
import { usesVolume } from "./take.ts";
import { VOLUME_WORK } from "./worker.ts";

/**
 * Removes the volume of an app with its data, also of an app that the manifest does not have any more.
 * @throws not_found, volume_in_use
 */
export async function removeVolume(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
): Promise<{ ok: true }> {
  const { projectId } = project;
  await deps.db.transaction(async (tx) => {
    const isIt = and(eq(apps.projectId, projectId), eq(apps.slug, slug), isNull(apps.crId));
    // Postgres rejects NUL
    const [app] = slug.includes("\0") ? [] : await tx.select().from(apps).where(isIt).for("update");
    const [volume] = app
      ? await tx.select().from(volumes).where(eq(volumes.appId, app.appId)).for("update")
      : [];
    if (!app || !volume)
      throw new SvcError("not_found", `The app "${shorten(slug)}" of this project has no volume.`);
    const served = await tx
      .select()
      .from(appDeployments)
      .where(
        inArray(
          appDeployments.deploymentId,
          [app.liveId, app.wantedId].filter((id) => id !== null),
        ),
      );
    const [run] =
      volume.runId === null ? [] : await tx.select().from(runs).where(eq(runs.runId, volume.runId));
    if (served.some(usesVolume) || (run && isAlive(run))) {
      const sentence = `A deployment of the app ${slug} uses its volume. Stop the app first: svc apps stop ${slug}`;
      throw new SvcError("volume_in_use", sentence);
    }
    await tx.update(volumes).set({ appId: null }).where(eq(volumes.volumeId, volume.volumeId));
    await audit(tx, caller, { action: "volume.removed", target: slug, targetId: app.appId, project });
    await publish(tx, projectId, appChange(app));
  });
  deps.changes.notify(VOLUME_WORK);
  return { ok: true };
}
