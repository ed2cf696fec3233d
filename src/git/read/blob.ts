import { CONTENT_MAX_BYTES } from "../../contract/limits.ts";
import type { BlobRequest } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { objectMissing } from "../run/failure.ts";
import { readObjectBytes } from "./object-bytes.ts";

/**
 * Streams a file: a small one in one piece, a larger one in pieces, at the pace of its reader.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function readBlob(engine: Engine, mirror: Mirror, request: BlobRequest): Promise<void> {
  const { entry, onBytes, signal } = request;
  if (entry.size === null) throw new TypeError("a directory or submodule has no bytes");
  if (entry.size > CONTENT_MAX_BYTES) {
    return await engine.downloads(mirror.id, () =>
      readObjectBytes(engine, mirror, {
        type: "blob",
        id: entry.id,
        onBytes,
        deadlineMs: engine.limits.diffMs,
        wallMs: engine.limits.diffWallMs,
        ...(signal ? { signal } : {}),
      }),
    );
  }
  const bytes = await engine.lookups(mirror.id, () => mirror.objects.contents(entry.id));
  if (!bytes) throw objectMissing();
  await onBytes(bytes);
}
