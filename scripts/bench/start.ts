import { DATABASES, emptyDatabase } from "./databases.ts";
import { median } from "./measure.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "start";
const ROUNDS = 7;

/** From the start of the process to the answer of `/v1/health`: on an empty data folder and database, and once more. */
export async function start(bench: Workbench): Promise<void> {
  for (const kind of DATABASES) {
    const seconds = { "first start": [] as number[], "second start": [] as number[] };
    for (let round = 0; round < bench.amount(ROUNDS); round++) {
      const env = await emptyDatabase(bench, kind, WHAT);
      if (env === null) break;
      const dataDir = bench.folder("data");
      for (const all of Object.values(seconds)) {
        const server = await startServer(bench, { dataDir, env });
        all.push(server.startMs / 1000);
        await server.stop();
      }
    }
    for (const [which, all] of Object.entries(seconds)) {
      if (all.length > 0)
        bench.report.figure({ what: `${WHAT}, ${kind}, ${which}`, unit: "s", ours: median(all) });
    }
  }
}
