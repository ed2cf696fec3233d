import { type ByHand, mirrorByHand } from "./by-hand.ts";
import { fixtures, pathOf, textOf } from "./fixtures.ts";
import { interleave } from "./measure.ts";
import { makeRemotes, type Remotes } from "./remotes.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 25;
const BAR = { atMost: 1.3 };
/** A cached preview beside one that git has to compute. */
const STORED_BAR = { atMost: 0.1 };

/**
 * Compares `GET …/merge-preview` with the git commands that it requires. Each round pushes to `main` and two branches, and
 * requests three previews:
 * - "after a push": of the first branch, whose commits must be fetched;
 * - "fetched": of the second branch, whose commits came with that fetch, so neither side fetches;
 * - "stored": of the second branch again, beside an uncached preview of either kind.
 */
export async function preview(bench: Workbench): Promise<void> {
  for await (const fixture of fixtures(bench)) {
    const remotes = await makeRemotes(bench, fixture);
    const byHand = await mirrorByHand(bench, remotes.peer);
    const server = await startServer(bench);
    const project = await server.project(remotes.ours);
    const times = await interleave(bench, ROUNDS, async (round) => {
      const [first, second] = [`first-${round}`, `second-${round}`];
      await pushWork(remotes, [first, second], round);
      const [one, two] = [await server.open(project, first), await server.open(project, second)];
      const request =
        ({ path }: { path: string }) =>
        () =>
          server.call("GET", `${path}/merge-preview`);
      return [
        { pushed: request(one), fetched: request(two), stored: request(two) },
        {
          pushedByHand: () => previewByHand(byHand, first, true),
          fetchedByHand: () => previewByHand(byHand, second),
        },
      ];
    });
    const line = (what: string, ours: number, peer: readonly [string, number], bar = BAR) =>
      bench.report.ratio({ what: `preview ${what}, ${fixture.title}`, unit: "ms", ours, peer, bar });
    line("after a push", times.pushed, ["git", times.pushedByHand]);
    line("fetched", times.fetched, ["git", times.fetchedByHand]);
    line("stored (1)", times.stored, ["after a push", times.pushed], STORED_BAR);
    line("stored (2)", times.stored, ["fetched", times.fetched], STORED_BAR);
    await server.stop();
  }
}

async function pushWork(remotes: Remotes, branches: readonly string[], round: number): Promise<void> {
  for (const [index, branch] of branches.entries()) {
    const file = index + 10;
    await remotes.commit({ branch, from: "main", files: { [pathOf(file)]: textOf(file, round + 100) } });
  }
  await remotes.commit({ branch: "main", files: { [pathOf(2)]: textOf(2, round + 100) } });
}

async function previewByHand(git: ByHand, branch: string, fetches = false): Promise<void> {
  const tip = await git.list();
  const [base, head] = [tip("main"), tip(branch)];
  if (fetches) await git.fetch();
  await git.mergeBase(base, head);
  await git.mergeTree(base, head);
}
