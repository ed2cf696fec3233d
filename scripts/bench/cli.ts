import { existsSync } from "node:fs";
import { join } from "node:path";
import { DIST } from "../binaries.ts";
import { run } from "../run.ts";
import { interleave } from "./measure.ts";
import { cleanEnvironment } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 40;
const BAR = { atMost: 0.3 };
const SVC = join(DIST, "svc");
const COMMANDS = [["version"], ["cr", "ls", "--help"]];

/** Compares the start of `svc`, for commands that need no server, with that of GitHub's CLI. */
export async function cli(bench: Workbench): Promise<void> {
  const env = { ...cleanEnvironment(), HOME: bench.folder("home"), GH_NO_UPDATE_NOTIFIER: "1" };
  for (const command of COMMANDS) {
    const what = `svc ${command.join(" ")}`;
    if (!existsSync(SVC)) bench.report.skip(what, "dist/svc is not built");
    else if (Bun.which("gh") === null) bench.report.skip(what, "gh is not installed");
    else {
      const { ours, peer } = await interleave(bench, ROUNDS, () => [
        { ours: () => succeed([SVC, ...command], env) },
        { peer: () => succeed(["gh", "--version"], env) },
      ]);
      bench.report.ratio({ what, unit: "ms", ours, peer: ["gh --version", peer], bar: BAR });
    }
  }
}

async function succeed(command: string[], env: Record<string, string>): Promise<void> {
  const { code, err } = await run(command, { env });
  if (code !== 0) throw new Error(`${command.join(" ")}: ${err}`);
}
