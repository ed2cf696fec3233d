import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { SvcError } from "../../src/contract/errors.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import {
  createRepository,
  createTestGit,
  runGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";
import { commitsOf, history } from "../helpers/histories.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

/** How many random histories are held against git; more on demand. */
const RUNS = share(24, 2000);

test(
  `merges and diffs of ${RUNS} random histories match git`,
  async () => {
    await using directory = await temporary();
    await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
    const upstream = await createRepository(`${directory.path}/up`, { bare: false });
    const repo = engine.repo(upstream.url);
    const seen = { clean: 0, conflict: 0, fastForward: 0, aborted: 0 };
    await fc.assert(
      fc.asyncProperty(history, async (story) => {
        const ids = await upstream.write(commitsOf(story));
        const [base = "", head = ""] = [ids["base"], ids["head"]];
        expect(await engine.git.ensureCommits(repo, [base, head])).toBe(true);
        seen[await checkMerge(engine.git, repo, upstream, base, head)]++;
        const from = await upstream.git("merge-base", base, head);
        await checkDiff(engine.git, repo, upstream, from, head, base);
      }),
      { numRuns: RUNS },
    );
    expect(seen.clean).toBeGreaterThan(0);
    expect(seen.conflict).toBeGreaterThan(0);
    console.log(`compared with git: ${JSON.stringify(seen)}`);
  },
  Math.max(180_000, RUNS * 1_000),
);

async function checkMerge(git: Git, repo: Repository, upstream: TestRepository, base: string, head: string) {
  const oracle = await mergeInWorkTree(upstream, base, head);
  if (oracle.kind === "aborted") {
    // this git aborts on it in a work tree too: it must be an error, never a verdict
    const verdict = await git.compare(repo, base, head).catch((error: unknown) => error);
    expect(verdict).toBeInstanceOf(SvcError);
    return "aborted" as const;
  }
  const verdict = await git.compare(repo, base, head);
  const mergeBase = await upstream.git("merge-base", base, head);
  expect(verdict).toEqual({
    mergeBase,
    isUpToDate: mergeBase === head,
    canFastForward: mergeBase === base && base !== head,
    canMerge: oracle.kind === "clean",
    conflicts: oracle.kind === "clean" ? [] : oracle.conflicts,
  });
  if (verdict.isUpToDate || verdict.canFastForward) return "fastForward" as const;
  const written = await git.writeMerge(repo, {
    base,
    head,
    message: "m",
    identity: { name: "n", email: "e" },
    date: new Date(0),
  });
  if (oracle.kind === "conflict") {
    expect(written).toEqual({ conflicts: oracle.conflicts });
    return oracle.kind;
  }
  if (!("commit" in written)) throw new Error("the preview was clean, the merge was not");
  const tree = await runGit(upstream.directory, ["rev-parse", `${written.commit}^{tree}`], {
    env: inMirror(upstream, repo),
  });
  expect(tree.stdout.toString().trim()).toBe(oracle.tree);
  return oracle.kind;
}

async function mergeInWorkTree(upstream: TestRepository, base: string, head: string) {
  const { directory } = upstream;
  await runGit(directory, ["checkout", "--quiet", "--force", "--detach", base]);
  await runGit(directory, ["clean", "--quiet", "-ffdx"]);
  const merge = await runGit(directory, ["merge", "--quiet", "--no-ff", "--no-commit", head], {
    codes: [0, 1, 2, 128, 134],
  });
  if (merge.code === 0) return { kind: "clean" as const, tree: await upstream.git("write-tree") };
  if (merge.code !== 1) {
    // git removes its locks on most signals, and not on its own abort()
    await rm(`${directory}/.git/index.lock`, { force: true });
    return { kind: "aborted" as const };
  }
  const unmerged = (await runGit(directory, ["ls-files", "-u", "-z"])).stdout
    .toString()
    .split("\0")
    .filter(Boolean);
  const names = unmerged.map((line) =>
    line.slice(line.indexOf("\t") + 1).replace(new RegExp(`~(?:HEAD|${head})(?:_\\d+)?$`), ""),
  );
  return { kind: "conflict" as const, conflicts: [...new Set(names)].sort() };
}

async function checkDiff(
  git: Git,
  repo: Repository,
  upstream: TestRepository,
  from: string,
  to: string,
  attributes: string,
) {
  const pieces: Uint8Array[] = [];
  const request = { from, to, attributes, maxFiles: 1000 };
  const { files, truncated } = await git.diff(repo, {
    ...request,
    onPatch(piece) {
      pieces.push(piece);
      return true;
    },
  });
  expect(truncated).toBe(false);
  const index = { GIT_INDEX_FILE: `${upstream.directory}/.git/scratch-index` };
  await runGit(upstream.directory, ["read-tree", from], { env: index });
  const patch = Buffer.concat(pieces);
  if (patch.length > 0)
    await runGit(upstream.directory, ["apply", "--cached", "-"], { env: index, stdin: patch });
  const tree = await runGit(upstream.directory, ["write-tree"], { env: index });
  expect(tree.stdout.toString().trim()).toBe(await upstream.git("rev-parse", `${to}^{tree}`));
  expect(files.map((file) => [Buffer.from(file.path).toString(), file.status])).toEqual(
    await namesAndStatuses(upstream, from, to),
  );
}

async function namesAndStatuses(upstream: TestRepository, from: string, to: string): Promise<string[][]> {
  const statuses: Record<string, string> = { A: "added", D: "deleted", M: "modified", T: "modified" };
  const fields = (
    await upstream.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to)
  ).split("\0");
  const rows: string[][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2)
    rows.push([fields[at + 1] ?? "", statuses[fields[at] ?? ""] ?? ""]);
  return rows;
}

function inMirror(upstream: TestRepository, repo: Repository): Record<string, string> {
  return { GIT_DIR: `${upstream.directory}/../data/mirrors/${repo.id}.git` };
}
