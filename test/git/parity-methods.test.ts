import { expect, test } from "bun:test";
import { mergeBoth } from "../helpers/git-methods.ts";
import { createRepository, createTestGit, temporary } from "../helpers/git-repo.ts";
import { commitsOf, history } from "../helpers/histories.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

/** How many random histories are compared with git; more on demand. */
const RUNS = share(12, 1000);

test(
  `squashes, rebases and fast-forwards of ${RUNS} random histories match git`,
  async () => {
    await using directory = await temporary();
    await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
    const upstream = await createRepository(`${directory.path}/up`, { bare: false });
    const repo = engine.repo(upstream.url);
    const mirror = `${directory.path}/data/mirrors/${repo.id}.git`;
    const place = { git: engine.git, repo, directory: upstream.directory, mirror };
    const seen: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(history, async (story) => {
        const ids = await upstream.write(commitsOf(story));
        const [base = "", head = ""] = [ids["base"], ids["head"]];
        expect(await engine.git.ensureCommits(repo, [base, head])).toBe(true);
        for (const method of ["squash", "rebase", "ff-only"] as const) {
          // svc uses the attributes of the base in each step, git those of the step before
          if (method === "rebase" && story.rounds.some(changesAttributes)) continue;
          const { git, svc } = await mergeBoth(place, method, base, head);
          expect([method, svc]).toEqual([method, git]);
          const outcome = `${method} ${git.length < 10 ? git : "done"}`;
          seen[outcome] = (seen[outcome] ?? 0) + 1;
        }
      }),
      { numRuns: RUNS },
    );
    const expected = ["squash done", "squash conflict", "rebase done", "rebase conflict", "ff-only refused"];
    for (const outcome of expected) expect(Object.keys(seen)).toContain(outcome);
    console.log(`compared with git: ${JSON.stringify(seen)}`);
  },
  Math.max(180_000, RUNS * 1_500),
);

function changesAttributes({ head }: { head: { kind: string }[] }): boolean {
  return head.some(({ kind }) => kind === "attributes");
}
