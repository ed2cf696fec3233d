import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a commit does to one path: content, a deletion (null), or an entry of another kind. */
export type Change =
  | string
  | Uint8Array
  | null
  | { executable: string | Uint8Array }
  | { link: string }
  | { submodule: string };

interface CommitOptions {
  /** Branch or commit to begin from; the branch's own tip if left out. */
  from?: string;
  /** Further parents. */
  merge?: string[];
  message?: string;
}

/** A real bare repository on disk that stands for a git host's; commits are written without a work tree. */
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
      const name = quote(path);
      if (change === null) line(`D ${name}`);
      else if (typeof change === "object" && "submodule" in change)
        line(`M 160000 ${change.submodule} ${name}`);
      else {
        const [mode, content] = blobOf(change);
        line(`M ${mode} inline ${name}`);
        data(content);
      }
    }
    git(["-C", this.path, "fast-import", "--quiet", "--force"], Buffer.concat(parts));
    return this.sha(branch);
  }

  /** The commit that a branch, or a commit itself, names. */
  sha(name: string): string {
    if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(name)) return name;
    return this.git("rev-parse", "--verify", `refs/heads/${name}`).trim();
  }

  has(branch: string): boolean {
    return Bun.spawnSync(["git", "-C", this.path, "show-ref", "--quiet", "--verify", `refs/heads/${branch}`])
      .success;
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

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.directory",
  GIT_CONFIG_VALUE_0: "*",
  LC_ALL: "C.UTF-8",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

/** Runs git as a test's own hand, and throws with its words when it fails. */
export function git(args: string[], stdin?: Uint8Array): string {
  const result = Bun.spawnSync(["git", ...args], { env: ENVIRONMENT, ...(stdin && { stdin }) });
  if (!result.success) throw new Error(`git ${args.join(" ")}: ${result.stderr.toString()}`);
  return result.stdout.toString();
}

function blobOf(change: Exclude<Change, null | { submodule: string }>): [string, Uint8Array] {
  if (typeof change === "string") return ["100644", Buffer.from(change)];
  if (change instanceof Uint8Array) return ["100644", change];
  if ("link" in change) return ["120000", Buffer.from(change.link)];
  const content = change.executable;
  return ["100755", typeof content === "string" ? Buffer.from(content) : content];
}

function quote(path: string): string {
  return `"${path.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`))}"`;
}
