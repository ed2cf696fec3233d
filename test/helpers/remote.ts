import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { type Entry, quotePath, writeEntry } from "./git-repo.ts";

/** A commit's change of one path; null deletes it. */
export type Change = Entry | null;

interface CommitOptions {
  /** Branch or commit to begin from; the branch's own tip if left out. */
  from?: string;
  /** Further parents. */
  merge?: string[];
  message?: string;
}

/** A real bare repository on disk in place of a git host's; commits are written without a work tree. */
export class Remote {
  readonly path: string;
  private clock = 1_700_000_000;

  constructor({ objectFormat = "sha1", defaultBranch = "main" } = {}) {
    this.path = join(mkdtempSync(join(tmpdir(), "svc-remote-")), "repo.git");
    git([
      "init",
      "--quiet",
      "--bare",
      `--object-format=${objectFormat}`,
      `--initial-branch=${defaultBranch}`,
      this.path,
    ]);
  }

  get url(): string {
    return `file://${this.path}`;
  }

  /** Adds a commit to a branch and returns its id. */
  commit(
    branch: string,
    changes: Record<string, Change>,
    { from, merge = [], message = "work" }: CommitOptions = {},
  ): string {
    const parts: Uint8Array[] = [];
    const line = (text: string) => parts.push(Buffer.from(`${text}\n`));
    const data = (bytes: Uint8Array) => {
      line(`data ${bytes.byteLength}`);
      parts.push(bytes);
      line("");
    };
    line(`commit refs/heads/${branch}`);
    line(`committer A <a@example.com> ${++this.clock} +0000`);
    data(Buffer.from(message));
    const start = from ?? (this.has(branch) ? branch : undefined);
    if (start !== undefined) line(`from ${this.sha(start)}`);
    for (const parent of merge) line(`merge ${this.sha(parent)}`);
    for (const [path, change] of Object.entries(changes)) {
      if (change === null) line(`D ${quotePath(path)}`);
      else writeEntry(path, change, (text) => parts.push(Buffer.from(text)), data);
    }
    git(["-C", this.path, "fast-import", "--quiet", "--force"], Buffer.concat(parts));
    return this.sha(branch);
  }

  /** The commit that a branch, or a commit itself, names. */
  sha(name: string): string {
    if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(name)) return name;
    return looseRef(this.path, name) ?? this.git("rev-parse", "--verify", `refs/heads/${name}`).trim();
  }

  has(branch: string): boolean {
    if (looseRef(this.path, branch) !== null) return true;
    const asked = ["git", "-C", this.path, "show-ref", "--quiet", "--verify", `refs/heads/${branch}`];
    return existsSync(join(this.path, "packed-refs")) && Bun.spawnSync(asked).success;
  }

  /** The commits of the branches in a folder, without starting git: nothing packs the refs of a remote. */
  commitsBelow(folder: string): string[] {
    const names = listFiles(join(this.path, "refs/heads", folder));
    return names.flatMap((name) => looseRef(this.path, `${folder}/${name}`) ?? []);
  }

  branch(name: string, at: string): void {
    this.git("update-ref", `refs/heads/${name}`, this.sha(at));
  }

  deleteBranch(name: string): void {
    this.git("update-ref", "-d", `refs/heads/${name}`);
  }

  /** Installs a hook of the host's. */
  hook(name: string, script: string): void {
    const path = join(this.path, "hooks", name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  git(...args: string[]): string {
    return git(["-C", this.path, ...args]);
  }

  remove(): void {
    rmSync(join(this.path, ".."), { recursive: true, force: true });
  }
}

/** A branch's commit if it is a loose ref, read without starting git; null if it is packed or missing. */
export function looseRef(repository: string, branch: string): string | null {
  // git accepts no such name, and no file above may pose as a branch
  if (branch.includes("..")) return null;
  try {
    return readFileSync(join(repository, "refs/heads", branch), "utf8").trim();
  } catch {
    return null;
  }
}

/** The files of a folder, which may end meanwhile. */
function listFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names.filter((name) => !name.endsWith(".lock"));
  } catch {
    return [];
  }
}

/** Runs git for a test, and throws with its output if it fails. */
export function git(args: string[], stdin?: Uint8Array): string {
  const result = Bun.spawnSync(["git", ...args], { env: GIT_ENVIRONMENT, ...(stdin && { stdin }) });
  if (!result.success) throw new Error(`git ${args.join(" ")}: ${result.stderr.toString()}`);
  return result.stdout.toString();
}
