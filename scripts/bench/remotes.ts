import { join } from "node:path";
import { data, type Fixture } from "./fixtures.ts";
import { fastImport, git } from "./git.ts";
import type { Workbench } from "./workbench.ts";

interface Commit {
  branch: string;
  /** The branch to start from; default: the tip of the branch itself. */
  from?: string;
  /** Path → text. */
  files: Record<string, string>;
}

/** Two copies of a repository that simulate a git host: one for svc, one for the git commands. */
export interface Remotes {
  ours: string;
  peer: string;
  /** Pushes the same commit to both. */
  commit(commit: Commit): Promise<void>;
}

let clock = 1_700_000_000;

export async function makeRemotes(bench: Workbench, fixture: Fixture): Promise<Remotes> {
  const folder = bench.folder("remotes");
  const [ours, peer] = [join(folder, "ours.git"), join(folder, "peer.git")];
  for (const path of [ours, peer]) {
    await git(folder, ["clone", "--quiet", "--bare", "--local", "--template=", fixture.path, path]);
    // garbage collection would distort the rounds in which it runs
    await git(path, ["config", "receive.autogc", "false"]);
  }
  return {
    ours,
    peer,
    async commit(commit) {
      const text = streamOf(commit, ++clock);
      await fastImport(ours, [text]);
      await fastImport(peer, [text]);
    },
  };
}

function streamOf({ branch, from = branch, files }: Commit, seconds: number): string {
  const changes = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`);
  return [
    `commit refs/heads/${branch}\ncommitter A <a@example.com> ${seconds} +0000\n`,
    data("work"),
    `from refs/heads/${from}^0\n`,
    ...changes,
    "\n",
  ].join("");
}
