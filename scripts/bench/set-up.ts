import { fastImport } from "./git.ts";
import { alternate, median } from "./measure.ts";
import { makeNoiseRepository } from "./noise.ts";
import type { Server } from "./server.ts";
import { timeSession } from "./session.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 5;

/** A setup command in place of `npm ci`: it waits for a network, and writes many small files. */
export function setupCommand(bench: Workbench): string {
  const [seconds, files] = [bench.amount(1, 0), bench.amount(2_000, 20)];
  return `sleep ${seconds}; mkdir -p node_modules; for i in $(seq ${files}); do echo $i >node_modules/$i; done`;
}

/** Creates a bare repository with such files and a manifest that has the setup command. @returns its path */
export async function makeSetupRepository(
  bench: Workbench,
  noise: Parameters<typeof makeNoiseRepository>[2],
): Promise<string> {
  const path = await makeNoiseRepository(bench, "setup", noise);
  const manifest = `svc_version = 1\n[sandbox]\nsetup = ${JSON.stringify(setupCommand(bench))}\n`;
  await fastImport(path, [
    "commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 5\nsetup\nfrom refs/heads/main^0\n",
    `M 100644 inline svc.toml\ndata ${manifest.length}\n${manifest}\n\n`,
  ]);
  return path;
}

/**
 * Compares the first session of a project, for which nothing is cached, and the second, which gets what the setup command of
 * the first has added, with the same work by hand.
 * @param newProject creates a project of such a repository, and returns the path of its sessions
 * @param byHand clones, runs the command, and starts the runtime; returns milliseconds
 */
export async function timeSetups(
  bench: Workbench,
  server: Server,
  what: string,
  newProject: () => Promise<string>,
  byHand: () => Promise<number>,
): Promise<void> {
  const { ours, peer } = await alternate(bench, ROUNDS, {
    async ours() {
      const place = await newProject();
      const first = await timeSession(server, place, "ok");
      return { first, second: await timeSession(server, place, "restored") };
    },
    peer: byHand,
  });
  const seconds = (values: readonly number[]) => median(values) / 1000;
  const alone = ["clone, setup and runtime by hand", seconds(peer)] as const;
  const report = (name: string, values: readonly number[]) =>
    bench.report.ratio({
      what: `${what}: ${name} session with a setup command`,
      unit: "s",
      ours: seconds(values),
      peer: alone,
    });
  report(
    "first",
    ours.map(({ first }) => first),
  );
  report(
    "second",
    ours.map(({ second }) => second),
  );
}
