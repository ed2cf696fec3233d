import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { WorkspaceGit } from "../saved/workspace-git.ts";
import type { Settings } from "../settings.ts";

/** Untracked files that are compared: far more than a person makes. The rest is counted. */
const UNTRACKED_MAX = 20_000;

/** A copy of the workspace's index that has the untracked files, too, and the commits that it is compared with. */
export interface Staged {
  base: string | null;
  head: string | null;
  /** The base, or the empty tree. */
  tree: string;
  /** With which git uses the copy. */
  environment: Readonly<Record<string, string>>;
  /** Untracked files that are not in it. */
  omitted: number;
}

/**
 * Prepares the comparison of the workspace with a base: `git diff` shows no untracked files, so a copy of the index gets
 * an entry for each. The workspace's own index and objects stay as they are.
 * @throws SaveError
 */
export async function stageWorkspace(
  workspaceGit: WorkspaceGit,
  { home }: Pick<Settings, "home">,
  defaultBranch: string,
): Promise<Staged> {
  const { must, script } = workspaceGit;
  const [head, found] = [
    await commitOf(workspaceGit, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    await must("git could not find its index", [
      ...["rev-parse", "--path-format=absolute", "--git-path", "index", "--show-object-format"],
    ]),
  ];
  const [index = "", format = ""] = found.toString().split("\n");
  const { blob, tree } = EMPTY[format === "sha256" ? "sha256" : "sha1"];
  const base = head && ((await mergeBase(workspaceGit, defaultBranch, head)) ?? head);
  const folder = join(home, ".svc-workspace");
  const copy = join(folder, randomBytes(8).toString("hex"));
  const environment = { GIT_INDEX_FILE: copy };
  await script(COPY, [folder, index, copy]);
  const { paths, omitted } = await missingPaths(workspaceGit, environment);
  await writeEntries(
    workspaceGit,
    environment,
    paths.map((path) => `100644 ${blob} 0\t${path}`),
  );
  return { base, head, tree: base ?? tree, environment, omitted };
}

/** The copy keeps its mtime, by which git detects files that may have changed since. */
const COPY = `
mkdir -p -m 700 -- "$1" && [ -f "$2" ] && cp -p -- "$2" "$3"
`;

/** What git has built in. */
const EMPTY = {
  sha1: {
    blob: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  },
  sha256: {
    blob: "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    tree: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
  },
} as const;

/** Removes the copy. */
export async function removeStaged({ script }: WorkspaceGit, { environment }: Staged): Promise<void> {
  await script('rm -f -- "$1" "$1.lock"', [environment["GIT_INDEX_FILE"] ?? ""]);
}

/** Writes entries of the copy, as lines of `git update-index --index-info`, with paths in latin1. @throws SaveError */
export async function writeEntries(
  { must }: WorkspaceGit,
  environment: Staged["environment"],
  lines: readonly string[],
): Promise<void> {
  if (lines.length === 0) return;
  const stdin = Buffer.from(lines.map((line) => `${line}\0`).join(""), "latin1");
  const args = ["update-index", "-z", "--replace", "--index-info"];
  await must("git could not compare the files", args, { stdin, environment });
}

async function mergeBase(
  workspaceGit: WorkspaceGit,
  defaultBranch: string,
  head: string,
): Promise<string | null> {
  return await commitOf(workspaceGit, ["merge-base", `refs/remotes/origin/${defaultBranch}`, head]);
}

async function commitOf({ git }: WorkspaceGit, args: readonly string[]): Promise<string | null> {
  const { output } = await git(args);
  return /^[0-9a-f]{40,64}$/m.exec(output.toString("latin1"))?.[0] ?? null;
}

/**
 * The paths that need an entry: untracked files that are not ignored, and files with a merge conflict, which have three.
 * A nested repository, whose path ends in a slash, has its own changes.
 */
async function missingPaths(
  { must }: WorkspaceGit,
  environment: Staged["environment"],
): Promise<{ paths: string[]; omitted: number }> {
  const paths = new Set<string>();
  let omitted = 0;
  let rest = "";
  const take = (line: string) => {
    // `? <path>`, or `M <mode> <id> <stage>\t<path>`
    const path = line.startsWith("? ") ? line.slice(2) : line.slice(line.indexOf("\t") + 1);
    if (path === "" || path.endsWith("/") || paths.has(path)) return;
    if (paths.size < UNTRACKED_MAX) paths.add(path);
    else omitted++;
  };
  const args = ["ls-files", "-t", "-z", "--unmerged", "--others", "--exclude-standard"];
  await must("git could not list the files", args, {
    environment,
    onOutput(bytes) {
      const lines = (rest + Buffer.from(bytes).toString("latin1")).split("\0");
      rest = lines.pop() ?? "";
      for (const line of lines) take(line);
    },
  });
  return { paths: [...paths], omitted };
}
