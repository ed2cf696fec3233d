import { standInRuntime } from "../../test/helpers/stand-in-programs.ts";
import { until } from "../../test/helpers/until.ts";
import { freePort } from "../free-port.ts";
import { git } from "./git.ts";
import { alternate, median, timed } from "./measure.ts";
import { makeNoiseRepository } from "./noise.ts";
import { startServer } from "./server.ts";
import { startSession, timeSession } from "./session.ts";
import { makeSetupRepository, setupCommand, timeSetups } from "./set-up.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "sessions";
const ROUNDS = 9;
const AT_ONCE = 10;
const REPOSITORY = { files: 200, fileBytes: 20_000 };

/**
 * Compares the time from the request that creates a session until it is running, in local sandboxes, with that of the same by
 * hand: a clone, a setup command, and the start of the agent runtime (SVC_RUNTIME_BIN, or the fake runtime of the tests).
 */
export async function sessions(bench: Workbench): Promise<void> {
  if (process.platform !== "linux") return bench.report.skip(WHAT, "the local provider needs Linux");
  const runtime = process.env["SVC_RUNTIME_BIN"] ?? (await buildStandIn(bench));
  const server = await startServer(bench, {
    env: { SVC_SANDBOX_PROVIDER: "local", SVC_RUNTIME_BIN: runtime, SVC_SESSION_CAP: "100" },
  });
  const repository = await makeNoiseRepository(bench, "sessions", REPOSITORY);
  const place = `${(await server.project(repository)).path}/sessions`;
  const { ours, peer } = await alternate(bench, ROUNDS, {
    ours: () => timeSession(server, place),
    peer: () => byHand(bench, repository, runtime),
  });
  bench.report.ratio({
    what: `${WHAT}: create to running`,
    unit: "s",
    ours: median(ours) / 1000,
    peer: ["clone and runtime by hand", median(peer) / 1000],
  });
  const withSetup = await makeSetupRepository(bench, REPOSITORY);
  await timeSetups(
    bench,
    server,
    WHAT,
    async () => `${(await server.project(withSetup)).path}/sessions`,
    () => byHand(bench, withSetup, runtime, setupCommand(bench)),
  );
  const all = { length: bench.amount(AT_ONCE, 2) };
  const together = await timed(() => Promise.all(Array.from(all, () => startSession(server, place))));
  const alone = await timed(() =>
    Promise.all(Array.from(all, () => startAlone(runtime, bench.folder("home")))),
  );
  bench.report.ratio({
    what: `${WHAT}: ${AT_ONCE} at once, create to running`,
    unit: "s",
    ours: together / 1000,
    peer: [`${AT_ONCE} agent runtimes alone`, alone / 1000],
  });
  await server.stop();
}

/** The fake agent runtime of the tests. */
export async function buildStandIn(bench: Workbench): Promise<string> {
  return await standInRuntime(bench.folder("runtime"));
}

/** One after the other. @returns milliseconds */
async function byHand(bench: Workbench, repository: string, runtime: string, setup = ":"): Promise<number> {
  const clone = bench.folder("clone");
  const prepared = await timed(async () => {
    await git(clone, ["clone", "--quiet", "--template=", `file://${repository}`, "."]);
    if ((await Bun.spawn(["sh", "-c", setup], { cwd: clone }).exited) !== 0) throw new Error(setup);
  });
  return prepared + (await startAlone(runtime, bench.folder("home")));
}

/** @returns milliseconds from the start of the runtime until it passes the health checks of the daemon */
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
