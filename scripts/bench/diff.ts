import { mirrorByHand } from "./by-hand.ts";
import { fixtures, pathOf } from "./fixtures.ts";
import { git } from "./git.ts";
import { interleave } from "./measure.ts";
import { makeRemotes } from "./remotes.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 15;
const BAR = { atMost: 1.2 };
/** Slightly below 5 MiB and 20,000 lines, the limits of the JSON response. */
const PATCH_BYTES = 4.95 * 1024 * 1024;
const FILES = 100;
/** With long lines the patch has 18,500 lines. Ordinary lines exceed the limit of JSON and are measured only as text. */
const LINES = { long: 280, ordinary: 60 };

/** The flags of svc, with which the bytes of a patch depend only on the two trees. */
const FLAGS = ["--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];

/** Compares `GET …/diff` of 5 MiB with `git diff main...branch` in a mirror. Both are read to the end. */
export async function diff(bench: Workbench): Promise<void> {
  for await (const fixture of fixtures(bench)) {
    const remotes = await makeRemotes(bench, fixture);
    for (const [name, width] of Object.entries(LINES)) {
      await remotes.commit({ branch: name, from: "main", files: addedFiles(width) });
    }
    const byHand = await mirrorByHand(bench, remotes.peer);
    const server = await startServer(bench);
    const project = await server.project(remotes.ours);
    const opened = {
      long: await server.open(project, "long"),
      ordinary: await server.open(project, "ordinary"),
    };
    const measure = async (branch: keyof typeof LINES, what: string, headers: Record<string, string>) => {
      const { path } = opened[branch];
      const bytes = await server.read(`${path}/diff`, headers);
      if (bytes < PATCH_BYTES) throw new Error(`the diff is truncated: ${bytes} bytes`);
      const { ours, peer } = await interleave(bench, ROUNDS, () => [
        { ours: () => server.read(`${path}/diff`, headers) },
        { peer: () => git(byHand.path, ["diff", ...FLAGS, `main...${branch}`]) },
      ]);
      bench.report.ratio({
        what: `diff, ${what}, ${fixture.title}`,
        unit: "ms",
        ours,
        peer: ["git", peer],
        bar: BAR,
      });
    };
    await measure("long", "JSON", {});
    await measure("long", "text", { Accept: "text/x-diff" });
    await measure("ordinary", "text, ordinary lines", { Accept: "text/x-diff" });
    await server.stop();
  }
}

/** Files in the folders of the fixture, in which no two lines are equal. */
function addedFiles(width: number): Record<string, string> {
  const count = Math.floor(PATCH_BYTES / FILES / (width + 2));
  const files = Array.from({ length: FILES }, (_, file) => {
    const lines = Array.from({ length: count }, (_, line) => lineOf(file * count + line, width));
    return [pathOf(file).replace(".ts", ".added.ts"), lines.join("")] as const;
  });
  return Object.fromEntries(files);
}

function lineOf(seed: number, width: number): string {
  return `${`export const value_${seed} = ${Math.imul(seed, 2_654_435_761) >>> 0}; `.padEnd(width, "x")}\n`;
}
