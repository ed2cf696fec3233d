import { type ByHand, mirrorByHand } from "./by-hand.ts";
import { fixtures, pathOf, textOf } from "./fixtures.ts";
import { interleave } from "./measure.ts";
import { makeRemotes, type Remotes } from "./remotes.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 25;
const BAR = { atMost: 1.3 };
/** A stored verdict beside one that git still has to give. */
const STORED_BAR = { atMost: 0.1 };

/**
 * `GET …/merge-preview` beside the git commands that it has to run: the look-up and `git merge-tree`. Each round pushes
 * to `main` and two branches, and then looks three times:
 * - "after a push", at one of them: what was pushed is to be fetched;
 * - "fetched", at the other, whose commits the same fetch brought, as in a list of many: neither side fetches;
 * - "stored", at that one again: beside a first look of either kind.
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
      const look =
        ({ path }: { path: string }) =>
        () =>
          server.call("GET", `${path}/merge-preview`);
      return [
        { pushed: look(one), fetched: look(two), stored: look(two) },
        {
          pushedByHand: () => byHandLook(byHand, first, true),
          fetchedByHand: () => byHandLook(byHand, second),
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

async function byHandLook(git: ByHand, branch: string, fetches = false): Promise<void> {
  const tip = await git.list();
  const [base, head] = [tip("main"), tip(branch)];
  if (fetches) await git.fetch();
  await git.mergeBase(base, head);
  await git.mergeTree(base, head);
}
