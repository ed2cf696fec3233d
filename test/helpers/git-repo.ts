import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { createGit } from "../../src/git/create.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import type { GitOptions } from "../../src/git/run/options.ts";

/** The content of a path: a file's text or bytes, or an entry that is not a regular file. */
export type Entry =
  | string
  | Uint8Array
  | { executable: string | Uint8Array }
  | { link: string }
  | { submodule: string };

/** Path (a string, or latin1 bytes when it is not UTF-8: see `paths`) → entry. */
export type Files = Record<string, Entry>;

export interface Commit {
  /** A name for the commit in this script; also a branch when `branch` says so. */
  name: string;
  branch?: string;
  parents?: string[];
  files: Files;
}

export interface TestRepository {
  directory: string;
  url: string;
  /** Writes commits in one `git fast-import`; returns the id of each by its name. */
  write(commits: readonly Commit[]): Promise<Record<string, string>>;
  git(...args: string[]): Promise<string>;
}

export const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** A directory that is removed after the test. */
export async function temporary(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "svc-git-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Runs git as the tests' oracle; throws unless it ends with one of `codes`. */
export async function runGit(
  directory: string,
  args: readonly string[],
  options: { stdin?: string | Uint8Array; env?: Record<string, string>; codes?: readonly number[] } = {},
): Promise<{ code: number; stdout: Buffer; stderr: string }> {
  const child = Bun.spawn(["git", ...args], {
    cwd: directory,
    env: { ...GIT_ENVIRONMENT, ...options.env },
    stdin: options.stdin === undefined ? "ignore" : Buffer.from(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
  ]);
  const code = await child.exited;
  if (!(options.codes ?? [0]).includes(code)) throw new Error(`git ${args.join(" ")}: ${code} ${stderr}`);
  return { code, stdout: Buffer.from(stdout), stderr };
}

export async function createRepository(
  directory: string,
  options: { bare?: boolean; format?: "sha1" | "sha256"; branch?: string } = {},
): Promise<TestRepository> {
  await mkdir(directory, { recursive: true });
  const format = options.format ?? "sha1";
  const bare = options.bare === false ? [] : ["--bare"];
  await runGit(directory, [
    "init",
    "-q",
    "--template=",
    `--object-format=${format}`,
    ...bare,
    "-b",
    options.branch ?? "main",
  ]);
  return {
    directory,
    url: `file://${directory}`,
    git: async (...args) => (await runGit(directory, args)).stdout.toString().trim(),
    write: (commits) => importCommits(directory, commits),
  };
}

/** The engine over a fresh data directory, with file:// allowed, and a repository id for a URL. */
export async function createTestGit(
  options: Partial<GitOptions> & { dataDir: string },
): Promise<{ git: Git; repo(url: string): Repository } & AsyncDisposable> {
  const git = await createGit({ allowPrivate: true, sshKeys: "project", log: QUIET, ...options });
  return {
    git,
    repo: (url) => ({ id: crypto.randomUUID(), url, credential: null }),
    [Symbol.asyncDispose]: () => git.close(),
  };
}

async function importCommits(directory: string, commits: readonly Commit[]): Promise<Record<string, string>> {
  const marks = new Map(commits.map((commit, index) => [commit.name, index + 1]));
  const parts: Buffer[] = [];
  const text = (line: string) => parts.push(Buffer.from(line));
  const data = (bytes: Uint8Array) => {
    text(`data ${bytes.length}\n`);
    parts.push(Buffer.from(bytes), Buffer.from("\n"));
  };
  for (const [index, commit] of commits.entries()) {
    text(
      `commit refs/${commit.branch ? `heads/${commit.branch}` : `svc-test/${index}`}\nmark :${index + 1}\n`,
    );
    text(`committer A <a@example.com> ${1_700_000_000 + index} +0000\n`);
    data(Buffer.from(commit.name));
    const nameOf = (parent: string) => (marks.has(parent) ? `:${marks.get(parent)}` : parent);
    const [first, ...others] = commit.parents ?? [];
    if (first) text(`from ${nameOf(first)}\n`);
    for (const parent of others) text(`merge ${nameOf(parent)}\n`);
    text("deleteall\n");
    for (const [path, entry] of Object.entries(commit.files)) writeEntry(path, entry, text, data);
    text("\n");
  }
  const file = `${directory}-marks-${crypto.randomUUID()}`;
  await runGit(directory, ["fast-import", "--quiet", "--force", `--export-marks=${file}`], {
    stdin: Buffer.concat(parts),
  });
  const ids = new Map(
    (await Bun.file(file).text()).split("\n").map((line) => [line.split(" ")[0], line.split(" ")[1]]),
  );
  await rm(file);
  return Object.fromEntries(commits.map((commit, index) => [commit.name, ids.get(`:${index + 1}`) ?? ""]));
}

/** One path of a commit in a fast-import stream. */
export function writeEntry(
  path: string,
  entry: Entry,
  text: (line: string) => void,
  data: (bytes: Uint8Array) => void,
): void {
  const name = quotePath(path);
  if (typeof entry === "object" && "submodule" in entry) {
    text(`M 160000 ${entry.submodule} ${name}\n`);
    return;
  }
  const [mode, content] =
    typeof entry === "string" || entry instanceof Uint8Array
      ? ["100644", entry]
      : "link" in entry
        ? ["120000", entry.link]
        : ["100755", entry.executable];
  text(`M ${mode} inline ${name}\n`);
  data(typeof content === "string" ? Buffer.from(content) : content);
}

/** `latin1:` before a path says that its characters are bytes. */
export const BYTES = "latin1:";

/** A path in fast-import's syntax, with any bytes. */
export function quotePath(path: string): string {
  const bytes = path.startsWith(BYTES) ? Buffer.from(path.slice(BYTES.length), "latin1") : Buffer.from(path);
  return `"${[...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"`;
}
