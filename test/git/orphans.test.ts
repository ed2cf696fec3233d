import { afterAll, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** Removes the memory that holds the arguments and the environment of this process, as processes of gVisor do. */
const WITHOUT_ARGUMENTS = `
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";
const stat = readFileSync("/proc/self/stat", "latin1");
// proc(5): startstack, arg_start and env_end are the fields 28, 48 and 51; the third one follows the name
const [stack, from, to] = [28, 48, 51].map((field) => Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[field - 3]));
const PAGE = 4096;
const start = from - (from % PAGE);
// the pointers to the arguments, and what the kernel says of itself, stay in use
if (start - stack < 2048) process.exit();
const { symbols } = dlopen("libc.so.6", { munmap: { args: ["u64", "u64"], returns: "i32" } });
symbols.munmap(start, Math.ceil((to - start) / PAGE) * PAGE);
console.log("ready");
setTimeout(() => {}, 1_000_000);
`;

/**
 * Starts a process without arguments and environment. The first page of its arguments may be the last one of its stack, by the
 * layout that the kernel has drawn: such a process ends, and the next one has another layout.
 */
async function startWithoutArguments() {
  for (;;) {
    const child = Bun.spawn([process.execPath, "-e", WITHOUT_ARGUMENTS], {
      stdio: ["ignore", "pipe", "ignore"],
      env: {},
    });
    // it prints a line when they are gone
    const { value } = await child.stdout.getReader().read();
    if (value !== undefined) return child;
    await child.exited;
  }
}

test("found by a gVisor sandbox beside the server: a process without arguments and environment delays no start", async () => {
  const child = await startWithoutArguments();
  const isEmpty = () => readFileSync(`/proc/${child.pid}/environ`).length === 0;
  try {
    expect(isEmpty()).toBe(true);
    const ended = endOrphans(join(folder, "nobody"), QUIET).then(() => "ended");
    // thirty seconds are the limit for processes that are to end
    expect(await Promise.race([ended, Bun.sleep(20_000)])).toBe("ended");
    expect([child.exitCode, isEmpty()]).toEqual([null, true]);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
});
