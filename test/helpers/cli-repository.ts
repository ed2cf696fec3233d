import type { Branch, Commit, FileContents, TreeEntry } from "../../src/contract/repository.ts";

export const branch = (name: string, change: Partial<Branch> = {}): Branch => ({
  name,
  commit_sha: "a".repeat(40),
  is_default: false,
  ...change,
});

export function commit(change: Partial<Commit> = {}): Commit {
  const who = { name: "Ada", email: "ada@example.com", date: "2026-11-20T10:00:00.000Z" };
  return {
    sha: "b".repeat(40),
    parents: ["a".repeat(40)],
    author: who,
    committer: who,
    co_authors: [{ name: "Bob", email: "bob@example.com" }],
    subject: "Fix the login page",
    body: "",
    truncated: false,
    verification: { verified: false, reason: "unsigned", signer: null },
    ...change,
  };
}

export const entry = (name: string, change: Partial<TreeEntry> = {}): TreeEntry => ({
  name,
  path: `src/${name}`,
  type: "file",
  mode: "100644",
  size: 12,
  sha: "c".repeat(40),
  ...change,
});

export const contents: FileContents = {
  ref: "main",
  commit_sha: "a".repeat(40),
  path: "a.txt",
  type: "file",
  mode: "100644",
  size: 2,
  sha: "c".repeat(40),
  encoding: "utf-8",
  content: "a\n",
  truncated: false,
};

const NOT_UTF8 = Buffer.from("src/login\xff.ts", "latin1").toString("base64");

/** The fake API's default responses about a repository. */
export const REPOSITORY_ROUTES = {
  "GET /projects/:p/branches": () => ({
    branches: [branch("main", { is_default: true }), branch("fix-login")],
  }),
  "GET /projects/:p/commits": () => ({ commits: [commit()] }),
  "GET /projects/:p/files": () => ({
    ref: "main",
    commit_sha: "a".repeat(40),
    path: "src",
    entries: [entry("login\ufffd.ts", { path_base64: NOT_UTF8 })],
  }),
  "GET /projects/:p/contents": () => ({ ...contents, path_base64: NOT_UTF8 }),
};
