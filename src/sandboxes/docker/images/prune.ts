import type { ImageInfo } from "dockerode";
import { type Engine, EngineError } from "../engine.ts";
import { LABEL } from "../names.ts";

/** Images of each kind, of a few hundred megabytes each. */
const KEPT = 12;
/** A build of another server may not have tagged its image yet. */
const NAMELESS_S = 60 * 60;

/** Removes old images of svc, except those in use. The next build retries what fails. */
export async function pruneImages(engine: Engine): Promise<void> {
  try {
    const images = await engine.ask("list images", (docker, abortSignal) =>
      docker.listImages({ filters: { label: [LABEL.image] }, abortSignal }),
    );
    const kinds = Map.groupBy(images, ({ Labels }) => Labels?.[LABEL.image]);
    for (const kind of kinds.values()) {
      const old = newestFirst(kind.filter((image) => !isNameless(image))).slice(KEPT);
      // of two builds at once, one loses its tag
      const lost = kind.filter(
        (image) => isNameless(image) && Date.now() / 1000 - image.Created > NAMELESS_S,
      );
      for (const image of [...old, ...lost]) await remove(engine, image);
    }
  } catch (error) {
    // the requested image exists
    if (!(error instanceof EngineError)) throw error;
  }
}

function newestFirst(images: readonly ImageInfo[]): ImageInfo[] {
  return images.toSorted((a, b) => b.Created - a.Created);
}

function isNameless({ RepoTags }: ImageInfo): boolean {
  return (RepoTags ?? []).every((tag) => tag === "<none>:<none>");
}

/** The engine deletes an image with its last tag. */
function namesOf(image: ImageInfo): string[] {
  return isNameless(image) ? [image.Id] : (image.RepoTags ?? []).filter((tag) => tag.startsWith("svc-"));
}

async function remove(engine: Engine, image: ImageInfo): Promise<void> {
  for (const name of namesOf(image)) {
    try {
      await engine.ask("remove an image", (docker, abortSignal) =>
        docker.getImage(name).remove({ abortSignal }),
      );
    } catch (error) {
      // 409: a container uses it
      if (!(error instanceof EngineError) || (error.status !== 409 && error.status !== 404)) throw error;
    }
  }
}
