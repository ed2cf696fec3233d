import { mirrorByHand } from "./by-hand.ts";
import { fixtures, pathOf } from "./fixtures.ts";
import { git } from "./git.ts";
import { interleave } from "./measure.ts";
import { makeRemotes } from "./remotes.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 15;
const BAR = { atMost: 1.2 };
/** A little less than 5 MiB and 20,000 lines, where the JSON answer would be cut. */
const PATCH_BYTES = 4.95 * 1024 * 1024;
const FILES = 100;
/** Of the long lines 18,500 make the patch; ordinary ones are cut in JSON, so they are only measured as text. */
const LINES = { long: 280, ordinary: 60 };

/** What makes a patch's bytes depend on the two trees alone, as svc's do. */
const FLAGS = ["--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];

/** `GET …/diff` of 5 MiB beside `git diff main...branch` of the same in a mirror; both are read to the end. */
export async function diff(bench: Workbench): Promise<void> {
  for await (const fixture of fixtures(bench)) {
    const remotes = await makeRemotes(bench, fixture);
    for (const [name, width] of Object.entries(LINES)) {
      await remotes.commit({ branch: name, from: "main", files: addedFiles(width) });
    }
    const byHand = await mirrorByHand(bench, remotes.peer);
    const server = await startServer(bench);
    const project = await server.project(remotes.ours);
    const measure = async (branch: keyof typeof LINES, what: string, headers: Record<string, string>) => {
      const { path } = await server.open(project, branch);
      const bytes = await server.read(`${path}/diff`, headers);
      if (bytes < PATCH_BYTES) throw new Error(`the diff is cut: ${bytes} bytes`);
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

/** Files that stand in the fixture's folders, of lines that are all different. */
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
