import { type ByHand, mirrorByHand } from "./by-hand.ts";
import { fixtures, pathOf, textOf } from "./fixtures.ts";
import { interleave } from "./measure.ts";
import { makeRemotes, type Remotes } from "./remotes.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 25;
const BAR = { atMost: 1.5 };

/** Compares `POST …/merge` of a newly pushed branch with the git commands that a merge requires. */
export async function merge(bench: Workbench): Promise<void> {
  for await (const fixture of fixtures(bench)) {
    const remotes = await makeRemotes(bench, fixture);
    const byHand = await mirrorByHand(bench, remotes.peer);
    const server = await startServer(bench);
    const project = await server.project(remotes.ours);
    for (const kind of ["fast-forward", "three-way"] as const) {
      const { ours, peer } = await interleave(bench, ROUNDS, async (round) => {
        const branch = `${kind}-${round}`;
        await pushWork(remotes, branch, kind, round);
        const { number, path } = await server.open(project, branch);
        return [
          { ours: () => server.call("POST", `${path}/merge`) },
          { peer: () => mergeByHand(byHand, branch, number) },
        ];
      });
      const what = `merge (${kind}), ${fixture.title}`;
      bench.report.ratio({ what, unit: "ms", ours, peer: ["git", peer], bar: BAR });
    }
    await server.stop();
  }
}

/** Pushes a branch with a commit; for a three-way merge also a commit to `main`, so that both must be fetched. */
async function pushWork(remotes: Remotes, branch: string, kind: string, round: number): Promise<void> {
  const version = round + 100;
  await remotes.commit({ branch, from: "main", files: { [pathOf(1)]: textOf(1, version) } });
  if (kind === "three-way") {
    await remotes.commit({ branch: "main", files: { [pathOf(2)]: textOf(2, version) } });
  }
}

async function mergeByHand(git: ByHand, branch: string, number: number): Promise<void> {
  const tip = await git.list();
  const [base, head] = [tip("main"), tip(branch)];
  await git.fetch();
  const mergeBase = await git.mergeBase(base, head);
  const merged =
    mergeBase === base ? head : await git.commitTree(await git.mergeTree(base, head), base, head);
  await git.push("main", base, merged);
  await git.keep(number, { base, head, merge: merged });
}
