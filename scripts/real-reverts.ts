import { rm } from "node:fs/promises";
import { runGit } from "../test/helpers/git-repo.ts";
import { overRepository, type RealRepository } from "../test/helpers/real-repository.ts";

/**
 * Reverts the merges of a repository's own history, and compares the results with those of `git revert -m 1`:
 *
 *     node scripts/with-bun.mjs scripts/real-reverts.ts <repository> [count]
 *
 * Each is reverted twice: on top of the merge itself, and on top of the newest commit. The repository is a folder, and is
 * not changed. Merges are the newest first; 200 unless a count is given.
 */
if (import.meta.main)
  process.exitCode = await overRepository("real-reverts.ts", process.argv.slice(2), 200, compareAll);

/** @returns how many differ */
async function compareAll(place: RealRepository, count: number): Promise<number> {
  const git = async (...args: string[]) => (await runGit(place.directory, args)).stdout.toString().trim();
  const newest = await git("rev-parse", "HEAD");
  const range = ["--min-parents=2", "--max-parents=2", `--max-count=${count}`, "--parents", "HEAD"];
  const lines = (await git("rev-list", ...range)).split("\n");
  const seen: Record<string, number> = {};
  let differ = 0;
  for (const line of lines) {
    const [merged = "", before = ""] = line.split(" ");
    if (!(await place.git.ensureCommits(place.repo, [newest, merged, before])))
      throw new Error(`no ${merged} or ${before}`);
    for (const [where, base] of Object.entries({ "on the merge": merged, "on the newest": newest })) {
      const [expected, found] = [
        await byGit(place, base, merged),
        await bySvc(place, { base, merged, before }),
      ];
      const outcome = `${where}: ${/^[0-9a-f]+$/.test(expected) ? "reverted" : expected}`;
      seen[outcome] = (seen[outcome] ?? 0) + 1;
      if (found === expected) continue;
      differ++;
      console.log(`the revert of ${merged} ${where} differs\ngit: ${expected}\nsvc: ${found}`);
    }
  }
  for (const [outcome, number] of Object.entries(seen).sort()) console.log(`${outcome} ${number}`);
  console.log(`${lines.length} merges, ${differ} results differ from git's`);
  return differ;
}

/** @returns the tree, or `conflict` */
async function byGit({ directory }: RealRepository, base: string, merged: string): Promise<string> {
  await rm(`${directory}/.git/REVERT_HEAD`, { force: true });
  await runGit(directory, ["checkout", "--quiet", "--force", "--detach", base]);
  await runGit(directory, ["clean", "--quiet", "-ffdx"]);
  const { code } = await runGit(directory, ["revert", "--no-commit", "-m", "1", merged], { codes: [0, 1] });
  return code === 1 ? "conflict" : (await runGit(directory, ["write-tree"])).stdout.toString().trim();
}

async function bySvc(
  { git, repo, mirror }: RealRepository,
  commits: { base: string; merged: string; before: string },
): Promise<string> {
  const person = { name: "M", email: "m@example.com" };
  const request = { ...commits, message: "m", identity: person, date: new Date(0) };
  const written = await git.writeRevert(repo, request);
  if ("conflicts" in written) return "conflict";
  const shown = await runGit(mirror, ["rev-parse", `${written.commit}^{tree}`], { env: { GIT_DIR: mirror } });
  return shown.stdout.toString().trim();
}
