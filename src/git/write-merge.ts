import { SvcError } from "../contract/errors.ts";
import { mergeBases } from "./compare.ts";
import type { Engine } from "./engine.ts";
import { engineFailure } from "./failure.ts";
import type { MergeRequest } from "./git.ts";
import { mergeTrees } from "./merge-tree.ts";
import { type Mirror, markComplete } from "./mirror.ts";

/**
 * Writes the commit that merges `head` into `base` into the mirror. The commit's bytes are made here and not by
 * `commit-tree`, which would add to the message: the same request gives the same commit, whenever it is asked.
 * @throws SvcError `merge_engine_failed`, `unrelated_histories`; MirrorDamaged
 */
export async function writeMergeCommit(
  engine: Engine,
  mirror: Mirror,
  request: MergeRequest,
): Promise<{ commit: string } | { conflicts: string[] }> {
  const { base, head } = request;
  const person = personOf(request);
  if (request.message.includes("\0")) throw new TypeError("a commit message cannot hold NUL");
  const bases = mergeBases(engine, mirror, base, head);
  if ((await bases).length === 0) {
    throw new SvcError("unrelated_histories", "The two branches have no common history.");
  }
  const merged = await mergeTrees(engine, mirror, base, head, {}, bases);
  if (!merged.clean) return { conflicts: merged.conflicts };
  const lines = [
    `tree ${merged.tree}`,
    `parent ${base}`,
    `parent ${head}`,
    `author ${person}`,
    `committer ${person}`,
    "",
    request.message,
  ];
  const result = await engine.runner.run({
    args: ["hash-object", "-t", "commit", "-w", "--stdin"],
    environment: mirror.environment,
    stdin: lines.join("\n"),
    deadlineMs: engine.limits.mergeMs,
    outputBytes: 1024,
  });
  if (result.code !== 0) throw engineFailure(engine, "writing the merge commit", result);
  const commit = new TextDecoder().decode(result.stdout).trim();
  // both parents are here with all that they reach, and so is all that the merge added
  markComplete(mirror, [commit]);
  return { commit };
}

function personOf({ identity, date }: MergeRequest): string {
  const seconds = Math.floor(date.getTime() / 1000);
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw new TypeError("a commit's date must be in or after 1970");
  for (const text of [identity.name, identity.email]) {
    if (/[<>\n\0]/.test(text) || text.trim() !== text || text === "")
      throw new TypeError("a commit's author must be a plain name and address");
  }
  return `${identity.name} <${identity.email}> ${seconds} +0000`;
}
