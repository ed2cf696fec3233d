import { describeMirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import type { RepositoryCopy } from "./copy.ts";

/** A repository of many gigabytes, and a slow reader. */
const PACK_MS = 6 * 3_600_000;
/** A stopped reader must not keep a process for longer. */
const STALL_MS = 10 * 60_000;

/**
 * Streams all objects that the refs of a copy reach, as one pack.
 * @throws SvcError merge_engine_failed when an object is missing or damaged
 */
export async function* packOf(engine: Engine, copy: RepositoryCopy): AsyncGenerator<Uint8Array> {
  if (copy.refs.length === 0) return;
  const { environment } = describeMirror(engine, copy.id, copy.directory, copy.format, false);
  const tips = new Set(
    Buffer.from(copy.refs)
      .toString("latin1")
      .split("\n")
      .map((line) => line.split(" ", 1)[0] ?? ""),
  );
  tips.delete("");
  const { stdout, ended } = engine.runner.stream({
    args: ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset", "--threads=1"],
    environment,
    stdin: [...tips].map((tip) => `${tip}\n`).join(""),
    deadlineMs: PACK_MS,
    stallMs: STALL_MS,
  });
  yield* stdout;
  const result = await ended;
  if (result.code !== 0) throw engineFailure(engine, `packing the repository ${copy.id}`, result);
}
