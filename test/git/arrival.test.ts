import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Git, Repository } from "../../src/git/git.ts";
import {
  createRepository,
  createTestGit,
  runGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";
import { generator, SEED, share } from "../helpers/random.ts";

let folder: Awaited<ReturnType<typeof temporary>>;
let engine: Awaited<ReturnType<typeof createTestGit>>;
let git: Git;

beforeAll(async () => {
  folder = await temporary();
  engine = await createTestGit({ dataDir: join(folder.path, "data") });
  git = engine.git;
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test("how commits of random histories reached a branch matches git's own traversal", async () => {
  const pick = generator(SEED);
  for (let round = 0; round < share(4, 200); round++) {
    const { upstream, repo, ids } = await history(pick);
    const isIn = async (head: string, base: string) =>
      (await runGit(upstream.directory, ["merge-base", "--is-ancestor", head, base], { codes: [0, 1] }))
        .code === 0;
    for (let question = 0; question < 8; question++) {
      const [head = "", base = "", since = ""] = [
        ids[pick(ids.length)],
        ids[pick(ids.length)],
        ids[pick(ids.length)],
      ];
      const reached = [];
      for (const id of ids) if (await isIn(id, base)) reached.push(id);
      expect((await git.reachedFrom(repo, base, ids)).toSorted()).toEqual(reached.toSorted());

      const arrival = await git.findArrival(repo, { head, base, since });
      if ((await isIn(head, since)) || !(await isIn(head, base))) {
        expect(arrival).toBeNull();
        continue;
      }
      const line = (await upstream.git("rev-list", "--first-parent", base)).split("\n");
      const having = [];
      for (const id of line) if (await isIn(head, id)) having.push(id);
      const commit = having.at(-1) ?? "";
      expect(arrival?.commit).toBe(commit);
      if (commit === head) expect(arrival?.base).toBe(since);
      else expect(arrival?.base).toBe(await upstream.git("rev-parse", `${commit}^1`));
    }
  }
});

test("commits that the mirror does not hold are not ancestors", async () => {
  const { repo, ids } = await history(() => 0);
  const unknown = "1".repeat(40);
  expect(await git.reachedFrom(repo, ids.at(-1) ?? "", [unknown])).toEqual([]);
  expect(await git.reachedFrom(repo, ids.at(-1) ?? "", [unknown, ids[0] ?? ""])).toEqual([ids[0] ?? ""]);
});

/** A repository of twelve commits, half of them merges, in the mirror. */
async function history(
  pick: (below: number) => number,
): Promise<{ upstream: TestRepository; repo: Repository; ids: string[] }> {
  const upstream = await createRepository(join(folder.path, crypto.randomUUID()));
  const commits = Array.from({ length: 12 }, (_, index) => {
    const parents = index === 0 ? [] : [`c${pick(index)}`];
    if (index > 1 && pick(2) === 0) parents.push(`c${pick(index)}`);
    return {
      name: `c${index}`,
      branch: `b${index}`,
      parents: [...new Set(parents)],
      files: { f: `${index}` },
    };
  });
  const ids = Object.values(await upstream.write(commits));
  const repo = engine.repo(upstream.url);
  expect(await git.ensureCommits(repo, ids)).toBe(true);
  return { upstream, repo, ids };
}
