import { join } from "node:path";
import { compile } from "../../test/helpers/sandbox-bench.ts";
import { until } from "../../test/helpers/until.ts";
import { ROOT } from "../binaries.ts";
import { freePort } from "../free-port.ts";
import { alternate, median, timed } from "./measure.ts";
import { makeNoiseRepository } from "./noise.ts";
import { startServer } from "./server.ts";
import { startSession, timeSession } from "./session.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "sessions";
const ROUNDS = 9;
const AT_ONCE = 10;
const REPOSITORY = { files: 200, fileBytes: 20_000 };
/** What a session may take beyond what the agent runtime itself needs to start. */
const BEYOND_S = 1.5;

/**
 * From the request that creates a session to the moment when it runs, in local sandboxes, beside the agent runtime
 * started by hand: SVC_RUNTIME_BIN, or the stand-in of the tests.
 */
export async function sessions(bench: Workbench): Promise<void> {
  if (process.platform !== "linux") return bench.report.skip(WHAT, "the local provider is measured on Linux");
  const runtime = process.env["SVC_RUNTIME_BIN"] ?? (await buildStandIn(bench));
  const server = await startServer(bench, {
    env: { SVC_SANDBOX_PROVIDER: "local", SVC_RUNTIME_BIN: runtime, SVC_SESSION_CAP: "100" },
  });
  const repository = await makeNoiseRepository(bench, "sessions", REPOSITORY);
  const place = `${(await server.project(repository)).path}/sessions`;
  const { ours, peer } = await alternate(bench, ROUNDS, {
    ours: () => timeSession(server, place),
    peer: () => startAlone(runtime, bench.folder("home")),
  });
  const [session, runtimeAlone] = [median(ours) / 1000, median(peer) / 1000];
  bench.report.figure({ what: `${WHAT}: create to running`, unit: "s", ours: session });
  bench.report.figure({ what: `${WHAT}: the agent runtime by itself`, unit: "s", ours: runtimeAlone });
  bench.report.figure({
    what: `${WHAT}: beyond the agent runtime's own start`,
    unit: "s",
    ours: session - runtimeAlone,
    bar: { atMost: BEYOND_S },
  });
  const together = await timed(() =>
    Promise.all(Array.from({ length: bench.amount(AT_ONCE, 2) }, () => startSession(server, place))),
  );
  bench.report.figure({
    what: `${WHAT}: ${AT_ONCE} created at once, until all run`,
    unit: "s",
    ours: together / 1000,
  });
  await server.stop();
}

/** The stand-in of the agent runtime that the tests use, as a program. */
export async function buildStandIn(bench: Workbench): Promise<string> {
  const program = join(bench.folder("runtime"), "opencode");
  await compile(join(ROOT, "test/helpers/opencode.ts"), program);
  return program;
}

/** @returns milliseconds from the start of the runtime to its first good answer, asked as the daemon asks */
async function startAlone(program: string, home: string): Promise<number> {
  const port = freePort();
  const child = Bun.spawn([program, "serve", "--port", String(port), "--hostname", "127.0.0.1"], {
    cwd: home,
    env: {
      HOME: home,
      PATH: process.env["PATH"] ?? "",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const time = await timed(async () => {
    let said = "";
    for await (const chunk of child.stdout) {
      said += Buffer.from(chunk).toString();
      if (said.includes("listening")) break;
    }
    for (const path of ["/global/health", "/config"])
      await until("the agent runtime answers", () => isOk(`http://127.0.0.1:${port}${path}`));
  });
  child.kill("SIGKILL");
  await child.exited;
  return time;
}

async function isOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
  await response?.body?.cancel();
  return response?.ok ?? false;
}
