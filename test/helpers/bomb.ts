import { runGit, type TestRepository } from "./git-repo.ts";

/** A commit that adds 10^levels files with one blob and one tree per level. */
export async function bomb(
  upstream: TestRepository,
  levels: number,
): Promise<{ base: string; head: string; side: string }> {
  const { directory } = upstream;
  const blob = (await runGit(directory, ["hash-object", "-w", "--stdin"], { stdin: "x\n" })).stdout
    .toString()
    .trim();
  let entry = `100644 blob ${blob}`;
  let tree = "";
  for (let level = 0; level < levels; level++) {
    const stdin = Array.from({ length: 10 }, (_, index) => `${entry}\t${index}\n`).join("");
    tree = (await runGit(directory, ["mktree"], { stdin })).stdout.toString().trim();
    entry = `040000 tree ${tree}`;
  }
  const { root = "" } = await upstream.write([{ name: "root", branch: "root", files: { f: "1\n" } }]);
  const { base = "" } = await upstream.write([
    { name: "base", branch: "main", parents: [root], files: { f: "2\n" } },
  ]);
  const whole = await runGit(directory, ["mktree"], { stdin: `100644 blob ${blob}\tf\n${entry}\tbomb\n` });
  const made = await runGit(directory, [
    "commit-tree",
    whole.stdout.toString().trim(),
    "-p",
    base,
    "-m",
    "b",
  ]);
  const head = made.stdout.toString().trim();
  const side = await runGit(directory, [
    "commit-tree",
    whole.stdout.toString().trim(),
    "-p",
    root,
    "-m",
    "b",
  ]);
  await upstream.git("update-ref", "refs/heads/bomb", head);
  const aside = side.stdout.toString().trim();
  await upstream.git("update-ref", "refs/heads/side", aside);
  return { base, head, side: aside };
}
