import { runGit } from "../test/helpers/git-repo.ts";
import { generator } from "../test/helpers/random.ts";
import { overRepository, type RealRepository } from "../test/helpers/real-repository.ts";

/**
 * Follows lines through the pull requests of a repository's own history as comments are, and lets `git blame -C -M` judge:
 * a line is right where blame finds the same origin for it, or where both files have its text exactly once.
 *
 *     node scripts/with-bun.mjs scripts/real-comments.ts <repository> [count]
 *
 * The repository is a folder, and is not changed. Each comment is on a line that its pull request adds, and is looked for
 * after the next push and after the last one; 300 comments unless a count is given.
 */
if (import.meta.main)
  process.exitCode = await overRepository("real-comments.ts", process.argv.slice(2), 300, judgeAll);

/** @returns how many comments are on a wrong line */
async function judgeAll(place: RealRepository, count: number): Promise<number> {
  const random = generator(7);
  const merges = (
    await output(place, ["rev-list", "--min-parents=2", "--max-parents=2", "--parents", "HEAD"])
  ).split("\n");
  const seen: Record<string, number> = { right: 0, outdated: 0, wrong: 0 };
  let comments = 0;
  for (const merge of merges) {
    if (comments === count) break;
    const [, base = "", tip = ""] = merge.split(" ");
    const pushes = (
      await output(place, ["rev-list", "--reverse", "--first-parent", `${base}..${tip}`])
    ).split("\n");
    if (pushes.length < 2 || !(await place.git.ensureCommits(place.repo, [base, tip]))) continue;
    const written = random(pushes.length - 1);
    const from = pushes[written] ?? "";
    const lines = await addedLines(place, base, from);
    const on = lines[random(Math.max(1, lines.length))];
    if (!on) continue;
    comments++;
    for (const to of new Set([pushes[written + 1] ?? "", tip])) {
      const verdict = await judge(place, { from, to, ...on });
      seen[verdict] = (seen[verdict] ?? 0) + 1;
      if (verdict === "wrong") console.log(`${on.path}:${on.line} of ${from} is wrong in ${to}`);
    }
  }
  console.log(`${comments} comments: ${JSON.stringify(seen)}`);
  return seen["wrong"] ?? 0;
}

interface On {
  path: string;
  line: number;
}

/** The lines that a pull request adds in its files with plain names. */
async function addedLines(place: RealRepository, base: string, head: string): Promise<On[]> {
  const patch = await output(place, ["diff", "--unified=0", "--no-renames", `${base}...${head}`]);
  const lines: On[] = [];
  let [path, line] = ["", 0];
  for (const text of patch.split("\n")) {
    if (text.startsWith("+++ ")) path = /^\+\+\+ b\/(.*)$/.exec(text)?.[1] ?? "";
    else if (text.startsWith("@@ ")) line = Number(/\+(\d+)/.exec(text)?.[1]);
    else if (text.startsWith("+") && path !== "") lines.push({ path, line: line++ });
  }
  return lines;
}

async function judge(
  place: RealRepository,
  { from, to, path, line }: On & { from: string; to: string },
): Promise<"right" | "outdated" | "wrong"> {
  const found = await place.git.followLines(place.repo, { from, to, path: Buffer.from(path), lines: [line] });
  const now = found?.lines[0] ?? null;
  if (!found || now === null) return "outdated";
  const there = { path: Buffer.from(found.path).toString(), line: now };
  const isSame = (await originOf(place, from, { path, line })) === (await originOf(place, to, there));
  return isSame || (await isOnly(place, from, { path, line }, to, there)) ? "right" : "wrong";
}

/** Whether both files have the text of the line, once: two commits that wrote the same line are two origins for blame. */
async function isOnly(
  place: RealRepository,
  from: string,
  before: On,
  to: string,
  after: On,
): Promise<boolean> {
  const [one, other] = [await linesOf(place, from, before.path), await linesOf(place, to, after.path)];
  const text = one[before.line - 1];
  const times = (lines: readonly string[]) => lines.filter((line) => line === text).length;
  return other[after.line - 1] === text && times(one) === 1 && times(other) === 1;
}

async function linesOf(place: RealRepository, commit: string, path: string): Promise<string[]> {
  return (await output(place, ["show", `${commit}:${path}`])).split("\n");
}

/** The commit, file and line that a line comes from. */
async function originOf(place: RealRepository, commit: string, { path, line }: On): Promise<string> {
  const args = ["blame", "-C", "-M", "--porcelain", "-L", `${line},${line}`, commit, "--", path];
  const blame = await output(place, args);
  const [origin = "", at = ""] = blame.split(" ");
  return `${origin} ${at} ${/^filename (.*)$/m.exec(blame)?.[1]}`;
}

async function output({ directory }: RealRepository, args: string[]): Promise<string> {
  return (await runGit(directory, args)).stdout.toString().trimEnd();
}
