import { SvcError } from "../../contract/errors.ts";
import type { DiffRequest, DiffSummary } from "../git.ts";
import type { Attributes, Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { attributesOf, lookUp, showAttributes } from "./attributes.ts";
import { PatchReader } from "./patch.ts";
import { createRawReader } from "./raw.ts";
import { createChangeCounter } from "./tree-changes.ts";

/**
 * The diff between two commits, from one git process: first its list of files (`--raw -z`), then the patch. All settings
 * that affect its format are given here; a rename is a deleted and an added file, unless the request pairs them.
 *
 * Attributes are those of `request.attributes`. Before git 2.43 they must be written to a work tree in advance: if the list
 * of files names directories whose attributes were not, git is restarted with them, before any patch was passed on.
 * @throws SvcError `payload_too_large` for too many paths, `merge_engine_failed`; MirrorSuspect
 */
export async function diffCommits(
  engine: Engine,
  mirror: Mirror,
  request: DiffRequest,
): Promise<DiffSummary> {
  await createChangeCounter(mirror.objects, engine.limits, engine.limits.diffPaths)(request.from, request.to);
  const attributes = await attributesOf(engine, mirror, request.attributes);
  for (;;) {
    const summary = await runOnce(engine, mirror, request, attributes);
    if (summary) return summary;
  }
}

const ARGUMENTS = [
  "diff-tree",
  "-r",
  "--raw",
  "-z",
  "--patch",
  "--binary",
  "--full-index",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--unified=3",
  "--inter-hunk-context=0",
  "--diff-algorithm=default",
  "--indent-heuristic",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--no-relative",
  "--ignore-submodules=none",
  "--submodule=short",
];
const IGNORING = ["--ignore-all-space"];
/** git's default similarity. More files than this on either side are only paired if they are equal. */
const PAIRING = ["--find-renames=50%", "-l1000"];

/** @returns null when git must run again because more attributes were found */
async function runOnce(
  engine: Engine,
  mirror: Mirror,
  request: DiffRequest,
  attributes: Attributes,
): Promise<DiffSummary | null> {
  const raw = createRawReader(request.maxFiles);
  const { ignoreWhitespace = false, pairRenames = false } = request;
  const patch = new PatchReader(raw.files, raw.kinds, request.onPatch, ignoreWhitespace);
  let again = false;
  await using shown = await showAttributes(engine, attributes);
  const result = await engine.runner.run({
    args: [
      ...ARGUMENTS,
      ...(pairRenames ? PAIRING : ["--no-renames"]),
      ...(ignoreWhitespace ? IGNORING : []),
      "--end-of-options",
      request.from,
      request.to,
      "--",
    ],
    environment: { ...mirror.environment, ...shown.environment },
    ...(shown.directory ? { directory: shown.directory } : {}),
    deadlineMs: engine.limits.diffMs,
    wallMs: engine.limits.diffWallMs,
    memory: engine.limits.mergeMemory,
    ...(request.signal ? { signal: request.signal } : {}),
    onStdout(chunk) {
      if (raw.done) return patch.take(chunk);
      const rest = raw.take(chunk);
      if (raw.truncated) return false;
      if (!raw.done) return true;
      return startPatch(rest);
    },
  });
  if (again) return null;
  if (raw.truncated) return { files: raw.files, truncated: true };
  if (result.stopped === "caller") throw new SvcError("merge_engine_failed", "The diff was cancelled.");
  if (result.code !== 0 || result.stopped) throw engineFailure(engine, "making the diff", result);
  await patch.end();
  return { files: raw.files, truncated: false };

  async function startPatch(rest: Uint8Array): Promise<boolean> {
    const paths = raw.files
      .flatMap(({ path, from }) => (from ? [path, from] : [path]))
      .map((path) => Buffer.from(path).toString("latin1"));
    again = await lookUp(engine, mirror, attributes, paths);
    return again ? false : await patch.take(rest);
  }
}
