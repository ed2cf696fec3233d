import { readFileSync } from "node:fs";
import { DATABASES, emptyDatabase } from "./databases.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "memory when idle";
const IDLE_MS = 10_000;
const BARS = { "embedded database": { atMost: 450 }, Postgres: { atMost: 150 } };

/** Memory of a server that does nothing: after its start, one request and 10 seconds; on its first and second start. */
export async function memory(bench: Workbench): Promise<void> {
  if (process.platform !== "linux") return bench.report.skip(WHAT, "it is read from /proc");
  for (const kind of DATABASES) {
    const env = await emptyDatabase(bench, kind, WHAT);
    if (env === null) continue;
    const dataDir = bench.folder("data");
    for (const which of ["first start", "second start"]) {
      const server = await startServer(bench, { dataDir, env });
      await server.read("/v1/projects");
      await Bun.sleep(bench.amount(IDLE_MS, 0));
      const what = `${WHAT}, ${kind}, ${which}`;
      bench.report.figure({ what, unit: "MB", ours: residentMegabytes(server.pid), bar: BARS[kind] });
      await server.stop();
    }
  }
}

/** What a process has in memory now; Linux only. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kilobytes) * 1024) / 1_000_000;
}
