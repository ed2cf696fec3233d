import type { MountSettings } from "dockerode";
import { VOLUME_GRACE_MS, type VolumeMount, type Volumes } from "../provider.ts";
import { endAll } from "./end.ts";
import { type Engine, EngineError } from "./engine.ts";
import { LABEL, volumeName } from "./names.ts";

/** The mount of a volume: the engine creates the volume with its labels, unless it exists. */
export function volumeMount(installation: string, { id, path }: VolumeMount): MountSettings {
  return {
    Type: "volume",
    Source: volumeName(installation, id),
    Target: path,
    VolumeOptions: {
      // a volume begins empty, also if the image has files at its path
      NoCopy: true,
      Labels: { [LABEL.installation]: installation, [LABEL.volume]: id },
      DriverConfig: { Name: "local", Options: {} },
    },
  };
}

/** Ends sandboxes that still have a volume which the next one is to have. */
export async function endOthersWith(engine: Engine, installation: string, id: string): Promise<void> {
  await endAll(engine, { [LABEL.installation]: installation, [LABEL.volume]: id }, VOLUME_GRACE_MS);
}

/** Volumes of the engine. Their sizes are not measured: the engine would read all of its volumes. */
export function dockerVolumes(engine: Engine, installation: string): Volumes {
  return {
    measure: async () => null,
    async remove(id) {
      try {
        await engine.call("remove a volume", (docker, abortSignal) =>
          docker.getVolume(volumeName(installation, id)).remove({ abortSignal }),
        );
      } catch (error) {
        if (!(error instanceof EngineError) || error.status !== 404) throw error;
      }
    },
  };
}
