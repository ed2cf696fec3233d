import type { ImageInfo } from "dockerode";
import { type Engine, EngineError } from "../engine.ts";
import { LABEL } from "../names.ts";

/** The number of images of each kind to keep, of a few hundred megabytes each. */
const KEPT = 12;
/** A build of another server may not have tagged its image yet. */
const UNTAGGED_S = 60 * 60;

/** Removes old images of svc, except those in use. The next build retries what fails. */
export async function pruneImages(engine: Engine): Promise<void> {
  try {
    const images = await engine.call("list images", (docker, abortSignal) =>
      docker.listImages({ filters: { label: [LABEL.image] }, abortSignal }),
    );
    const kinds = Map.groupBy(images, ({ Labels }) => Labels?.[LABEL.image]);
    for (const kind of kinds.values()) {
      const old = newestFirst(kind.filter((image) => !isUntagged(image))).slice(KEPT);
      // of two concurrent builds, one loses its tag
      const lost = kind.filter(
        (image) => isUntagged(image) && Date.now() / 1000 - image.Created > UNTAGGED_S,
      );
      for (const image of [...old, ...lost]) await remove(engine, image);
    }
  } catch (error) {
    // pruning is optional: the image that the caller needs exists
    if (!(error instanceof EngineError)) throw error;
  }
}

function newestFirst(images: readonly ImageInfo[]): ImageInfo[] {
  return images.toSorted((a, b) => b.Created - a.Created);
}

function isUntagged({ RepoTags }: ImageInfo): boolean {
  return (RepoTags ?? []).every((tag) => tag === "<none>:<none>");
}

/** The engine deletes an image with its last tag. */
function namesOf(image: ImageInfo): string[] {
  return isUntagged(image) ? [image.Id] : (image.RepoTags ?? []).filter((tag) => tag.startsWith("svc-"));
}

async function remove(engine: Engine, image: ImageInfo): Promise<void> {
  for (const name of namesOf(image)) {
    try {
      await engine.call("remove an image", (docker, abortSignal) =>
        docker.getImage(name).remove({ abortSignal }),
      );
    } catch (error) {
      // 409: a container uses it
      if (!(error instanceof EngineError) || (error.status !== 409 && error.status !== 404)) throw error;
    }
  }
}
