import { readdirSync, readFileSync } from "node:fs";
import { startPostgres } from "../postgres-server.ts";
import { cleanEnvironment, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

/** After the start, in seconds: what it compiles and sets up is no part of the figures. */
const SETTLE_S = 30;
const MEASURE_S = 60;
/** Half a percent of a core, in milliseconds of processor time a second. */
const BAR_MS = 5;
/** The smallest write of a file system, a page, once in a minute. */
const STEADY_KB = 4.096 / 60;

/** What a process and its children have used. */
interface Use {
  cpuMs: number;
  writtenKb: number;
}

/**
 * What a server costs that nobody uses: processor time and bytes written, those of Postgres' own processes included,
 * beside a bare `Bun.serve` and the same database without a server.
 */
export async function idle(bench: Workbench): Promise<void> {
  if (process.platform !== "linux") return bench.report.skip("idle", "needs /proc");
  const bare = await startBare(bench);
  const embedded = await startServer(bench, { env: { DATABASE_URL: "", SVC_SANDBOX_PROVIDER: "local" } });
  await compare(bench, "idle, embedded database", [embedded.pid], [bare]);
  await embedded.stop();
  // of its own: what else uses it would count
  const postgres = await startPostgres();
  if ("missing" in postgres) return bench.report.skip("idle, Postgres", postgres.missing);
  bench.atEnd(postgres.stop);
  const alone = await measure(bench, [postgres.pid, bare]);
  const env = { DATABASE_URL: postgres.url, SVC_SANDBOX_PROVIDER: "local" };
  const server = await startServer(bench, { env });
  await compare(bench, "idle, Postgres", [server.pid, postgres.pid], alone);
  await server.stop();
}

/** @param peer its processes, measured at the same time, or what it has used */
async function compare(bench: Workbench, what: string, ours: number[], peer: number[] | Use): Promise<void> {
  await Bun.sleep(1000 * bench.amount(SETTLE_S));
  const [used, other] = await Promise.all([
    measure(bench, ours),
    Array.isArray(peer) ? measure(bench, peer) : peer,
  ]);
  const { report } = bench;
  report.ratio({
    what: `${what}: processor time a second`,
    unit: "ms",
    ours: used.cpuMs,
    peer: ["bare", other.cpuMs],
  });
  const share = ["0.5 % of a core", BAR_MS] as const;
  report.ratio({
    what: `${what}: of its share`,
    unit: "ms",
    ours: used.cpuMs,
    peer: share,
    bar: { atMost: 1 },
  });
  const page = ["a page a minute", STEADY_KB] as const;
  report.ratio({ what: `${what}: written`, unit: "kB/s", ours: used.writtenKb, peer: page });
}

/** @returns the processor time and the bytes of these processes and their children, a second */
async function measure(bench: Workbench, roots: number[]): Promise<Use> {
  const seconds = bench.amount(MEASURE_S);
  const before = readUse(roots);
  await Bun.sleep(1000 * seconds);
  const after = readUse(roots);
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / seconds,
    writtenKb: (after.writtenKb - before.writtenKb) / seconds,
  };
}

function readUse(roots: number[]): Use {
  const total = { cpuMs: 0, writtenKb: 0 };
  for (const pid of roots.flatMap(withChildren)) {
    // each thread's time on a processor, in nanoseconds (sched-stats.rst)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      total.cpuMs +=
        Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    const io = readFileSync(`/proc/${pid}/io`, "utf8");
    total.writtenKb += Number(/^write_bytes: (\d+)$/m.exec(io)?.[1]) / 1000;
  }
  return total;
}

function withChildren(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(withChildren)];
}

async function startBare(bench: Workbench): Promise<number> {
  const program = `Bun.serve({ port: 0, fetch: () => new Response("ok") }); console.log("ready")`;
  const child = Bun.spawn([process.execPath, "-e", program], { env: cleanEnvironment(), stdout: "pipe" });
  bench.atEnd(() => child.kill("SIGKILL"));
  await child.stdout.getReader().read();
  return child.pid;
}
