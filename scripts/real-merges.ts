import { MERGE_METHODS } from "../src/contract/merge-method.ts";
import { mergeBoth, type Place } from "../test/helpers/git-methods.ts";
import { runGit } from "../test/helpers/git-repo.ts";
import { overRepository } from "../test/helpers/real-repository.ts";

/**
 * Repeats the merges of a repository's own history with each merge method, and compares the results with those of git:
 *
 *     node scripts/with-bun.mjs scripts/real-merges.ts <repository> [count]
 *
 * The repository is a folder, and is not changed. Merges are the newest first; 200 unless a count is given.
 */
if (import.meta.main)
  process.exitCode = await overRepository("real-merges.ts", process.argv.slice(2), 200, compareAll);

/** @returns how many differ */
async function compareAll(place: Place, count: number): Promise<number> {
  const list = [
    "rev-list",
    "--min-parents=2",
    "--max-parents=2",
    `--max-count=${count}`,
    "--parents",
    "HEAD",
  ];
  const lines = (await runGit(place.directory, list)).stdout.toString().trim().split("\n");
  const seen: Record<string, number> = {};
  let differ = 0;
  for (const line of lines) {
    const [merge = "", base = "", head = ""] = line.split(" ");
    if (!(await place.git.ensureCommits(place.repo, [base, head]))) throw new Error(`no ${base} or ${head}`);
    for (const method of MERGE_METHODS) {
      const { git, svc } = await mergeBoth(place, method, base, head);
      const outcome = `${method}: ${/^(?:conflict|refused|aborted)$/.test(git) ? git : "merged"}`;
      seen[outcome] = (seen[outcome] ?? 0) + 1;
      if (svc === git) continue;
      differ++;
      console.log(`${method} of ${merge} differs\ngit: ${git}\nsvc: ${svc}`);
    }
  }
  for (const [outcome, number] of Object.entries(seen).sort()) console.log(`${outcome} ${number}`);
  console.log(`${lines.length} merges, ${differ} results differ from git's`);
  return differ;
}
