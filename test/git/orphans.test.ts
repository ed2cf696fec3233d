import { afterAll } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endOrphans } from "../../src/git/run/orphans.ts";
import { QUIET } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { allProcesses, killIfThere } from "../helpers/processes.ts";
import { until, untilSteady } from "../helpers/until.ts";

const test = needs("Linux, whose /proc tells what processes have", process.platform === "linux");

const folder = mkdtempSync(join(tmpdir(), "svc-orphans-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const of = (home: string) => allProcesses().filter(({ environment }) => environment.includes(`HOME=${home}`));

test.each([
  ["waits", "exec sleep 1000"],
  ["does not heed SIGTERM", "trap '' TERM; while :; do sleep 0.05; done"],
  ["starts another on SIGTERM", `trap '"$0" & exit' TERM; while :; do sleep 0.05; done`],
  // for two minutes at most, so that a killed test run does not leave processes behind
  [
    "hands its work on to a child, time and again",
    `trap '' TERM; sleep 0.3; n=\${1:-0}; [ $n -gt 400 ] || "$0" $((n + 1)) & exit`,
  ],
  ["has ended but for its child", `"$0" child & exit`],
])("a killed server's process that %s is ended, and no other", async (name, script) => {
  const [home, other] = [join(folder, name, "home"), join(folder, name, "home-2")];
  const program = join(folder, `${name.replaceAll(" ", "-").replaceAll(",", "")}.sh`);
  writeFileSync(program, `#!/bin/sh\n[ "$1" = child ] && exec sleep 1000\n${script}\n`, { mode: 0o755 });
  const start = (HOME: string) =>
    Bun.spawn([program], {
      env: { PATH: process.env["PATH"] ?? "", HOME },
      detached: true,
      stdio: ["ignore", "ignore", "ignore"],
    });
  start(home);
  start(other);
  try {
    await until("both run", () => of(home).length > 0 && of(other).length > 0);
    await endOrphans(home, QUIET);
    await untilSteady("none is left", () => of(home).length === 0);
    await until("the other's is there", () => of(other).length > 0);
  } finally {
    await endOrphans(other, QUIET);
    for (const { pid } of [...of(home), ...of(other)]) killIfThere(pid);
  }
});
