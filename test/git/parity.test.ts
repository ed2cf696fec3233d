import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { SvcError } from "../../src/contract/errors.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import {
  type Commit,
  createRepository,
  createTestGit,
  type Entry,
  type Files,
  runGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

/** How many random histories are held against git; more on demand. */
const RUNS = share(40, 2000);

const PATHS = ["a", "b", "d", "d/x", "d/y", "d/e/z", "new/x", "l"] as const;

type Step =
  | { kind: "edit"; path: string; line: number; text: string }
  | { kind: "append"; path: string; text: string }
  | { kind: "delete"; path: string }
  | { kind: "rename"; path: string; to: string }
  | { kind: "renameDirectory"; to: string }
  | { kind: "mode"; path: string }
  | { kind: "entry"; path: string; entry: Entry }
  | { kind: "attributes"; directory: string; rule: string };

// two of them more often, so that both sides meet
const path = fc.constantFrom(...PATHS, "a", "a", "d/x", "d/x");
const text = fc.constantFrom("p", "q", "r\r", "");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("edit" as const), path, line: fc.nat(4), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("append" as const), path, text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), path }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rename" as const), path, to: path }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("renameDirectory" as const), to: fc.constantFrom("m", "n") }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mode" as const), path }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("entry" as const),
      path,
      entry: fc.constantFrom<Entry>(
        "",
        "no newline",
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n",
        Uint8Array.of(0, 1, 2, 255),
        Uint8Array.from({ length: 300 }, (_, index) => index % 256),
        { link: "a" },
        { link: "d" },
        { submodule: "1".repeat(40) },
        { submodule: "2".repeat(40) },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("attributes" as const),
      directory: fc.constantFrom("", "d/", "d/e/", "new/"),
      rule: fc.constantFrom("* -merge\n", "* merge=union\n", "x binary\n", "* -diff\n", "z -text\n"),
    }),
  },
);

/** Rounds of work on two branches; between rounds each may merge the other's last round (criss-cross). */
const history = fc.record({
  start: fc.uniqueArray(path, { minLength: 2, maxLength: 6 }),
  setUp: fc.array(step, { maxLength: 2 }),
  rounds: fc.array(
    fc.record({
      base: fc.array(step, { minLength: 1, maxLength: 4 }),
      head: fc.array(step, { minLength: 1, maxLength: 4 }),
      cross: fc.constantFrom("no", "no", "both", "base", "head"),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

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

function commitsOf(story: typeof history extends fc.Arbitrary<infer T> ? T : never): Commit[] {
  let files: Files = Object.fromEntries(story.start.map((name) => [name, body(name)]));
  files = story.setUp.reduce(apply, withoutClashes(files));
  const commits: Commit[] = [{ name: "root", files }];
  let base = { name: "root", files };
  let head = { name: "root", files };
  for (const [round, { base: onBase, head: onHead, cross }] of story.rounds.entries()) {
    const was = { base, head };
    base = { name: `base ${round}`, files: onBase.reduce(apply, base.files) };
    head = { name: `head ${round}`, files: onHead.reduce(apply, head.files) };
    commits.push({ ...base, parents: [was.base.name] }, { ...head, parents: [was.head.name] });
    const sides = { base, head };
    if (cross === "both" || cross === "base") {
      base = { name: `base ${round} merged`, files: sides.base.files };
      commits.push({ ...base, parents: [sides.base.name, sides.head.name] });
    }
    if (cross === "both" || cross === "head") {
      head = { name: `head ${round} merged`, files: sides.head.files };
      commits.push({ ...head, parents: [sides.head.name, sides.base.name] });
    }
  }
  commits.push({ name: "base", branch: "base", parents: [base.name], files: base.files });
  commits.push({
    name: "head",
    branch: "head",
    parents: [head.name],
    files: { ...head.files, "head-was-here": "x" },
  });
  return commits;
}

function body(name: string): string {
  return Array.from({ length: 12 }, (_, index) => `${name} line ${index}\n`).join("");
}

function apply(files: Files, action: Step): Files {
  const next = { ...files };
  if (action.kind === "attributes") {
    next[`${action.directory}.gitattributes`] = action.rule;
    return withoutClashes(next, `${action.directory}.gitattributes`);
  }
  if (action.kind === "renameDirectory") {
    for (const [name, entry] of Object.entries(files)) {
      if (!name.startsWith("d/")) continue;
      delete next[name];
      next[`${action.to}/${name.slice(2)}`] = entry;
    }
    return withoutClashes(next);
  }
  const entry = files[action.path];
  switch (action.kind) {
    case "entry":
      next[action.path] = action.entry;
      return withoutClashes(next, action.path);
    case "delete":
      delete next[action.path];
      return next;
    case "rename":
      if (entry === undefined) return next;
      delete next[action.path];
      next[action.to] = entry;
      return withoutClashes(next, action.to);
    case "mode":
      if (typeof entry === "string") next[action.path] = { executable: entry };
      return next;
    case "append":
      if (typeof entry === "string") next[action.path] = `${entry}${action.text}\n`;
      return next;
    case "edit":
      if (typeof entry === "string") next[action.path] = editLine(entry, action.line, action.text);
      return next;
  }
}

function editLine(content: string, line: number, replacement: string): string {
  const all = content.split("\n");
  if (line < all.length) all[line] = replacement;
  return all.join("\n");
}

/** A path cannot be a file and a directory; the path named last wins. */
function withoutClashes(files: Files, winner?: string): Files {
  const names = Object.keys(files).sort((a, b) => Number(b === winner) - Number(a === winner));
  const kept: string[] = [];
  for (const name of names) {
    if (!kept.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) kept.push(name);
  }
  return Object.fromEntries(kept.map((name) => [name, files[name] ?? ""]));
}
