import { gitIn } from "./git.ts";
import { findRepository } from "./git-branch.ts";
import type { System } from "./system.ts";

export interface GitRemote {
  name: string;
  /** As git uses it: with the user's `url.<base>.insteadOf`. It may hold a credential. */
  url: string;
}

/** Remotes that are compared; a repository with more is unusual. */
const REMOTES_MAX = 20;

/** The remotes of the repository around the working directory, `origin` first. Empty outside of one, and without git. */
export async function readRemotes(system: System): Promise<GitRemote[]> {
  if ((await findRepository(system.cwd)) === null) return [];
  const ran = await gitIn(system, system.cwd)
    .run("remote", "--verbose")
    .catch(() => null);
  const remotes = (ran?.stdout ?? "").split("\n").flatMap((line) => {
    const [, name, url] = /^(.+?)\t(.+) \(fetch\)(?: \[.*\])?$/.exec(line) ?? [];
    return name === undefined || url === undefined ? [] : [{ name, url }];
  });
  const last = ({ name }: GitRemote) => Number(name !== "origin");
  return remotes.sort((a, b) => last(a) - last(b)).slice(0, REMOTES_MAX);
}
