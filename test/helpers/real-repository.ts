import { resolve } from "node:path";
import type { Git, Repository } from "../../src/git/git.ts";
import { createTestGit, runGit, temporary } from "./git-repo.ts";

/** A clone of a real repository, and svc's engine with a mirror of it. */
export interface RealRepository {
  git: Git;
  repo: Repository;
  /** The clone, without a work tree. */
  directory: string;
  /** The folder of the mirror. */
  mirror: string;
}

/**
 * Runs a script over a repository: `<script> <repository> [count]`. The repository is a folder, and is not changed.
 * @param usual how many of its parts are taken unless a count is given
 * @param judge returns the number of faults
 * @returns the exit status: 1 if there are faults, 2 for wrong arguments
 */
export async function overRepository(
  script: string,
  [source, count = ""]: readonly string[],
  usual: number,
  judge: (place: RealRepository, count: number) => Promise<number>,
): Promise<number> {
  if (source === undefined || !/^(?:[1-9]\d*)?$/.test(count)) {
    console.error(`usage: scripts/${script} <repository> [count]`);
    return 2;
  }
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  const clone = `${directory.path}/up`;
  await runGit(directory.path, ["clone", "--quiet", "--no-checkout", resolve(source), clone]);
  const repo = engine.repo(`file://${clone}`);
  const mirror = `${directory.path}/data/mirrors/${repo.id}.git`;
  const faults = await judge({ git: engine.git, repo, directory: clone, mirror }, Number(count) || usual);
  return faults === 0 ? 0 : 1;
}
