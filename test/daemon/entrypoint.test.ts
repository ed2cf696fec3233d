import { afterAll, beforeAll, describe, expect } from "bun:test";
import { chmodSync, cpSync, linkSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { AGAINST_BINARIES, cleanEnvironment } from "../helpers/api.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { commandOf, killFound, processIds, statusOf } from "../helpers/processes.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { compile } from "../helpers/sandbox-bench.ts";
import { until } from "../helpers/until.ts";

const SPACES = succeeds("unshare", "--pid", "--fork", "--mount-proc", "true");
const test = needs("root and unshare(1), to be the first process", SPACES);

/** How many first processes are sent a signal at a random moment, and how many of them at once. */
const [RUNS, AT_ONCE] = [share(40, 1000), 8];

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-first-"));
  const program = join(folder, "svc-entrypoint");
  if (AGAINST_BINARIES) cpSync(resolve("dist/svc-entrypoint"), program);
  else await compile(resolve("daemon/main.ts"), program);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the entrypoint with a shell script as its daemon, as the first process of a namespace. */
function first(script: string) {
  const place = mkdtempSync(join(folder, "run-"));
  linkSync(join(folder, "svc-entrypoint"), join(place, "svc-entrypoint"));
  const daemon = join(place, "svc-agent");
  writeFileSync(daemon, `#!/bin/bash\n${script}\n`);
  chmodSync(daemon, 0o755);
  const child = Bun.spawn(
    ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", join(place, "svc-entrypoint")],
    {
      env: { ...cleanEnvironment(), SVC_TOKEN: "svc_sb_x" },
      stdout: "pipe",
      stderr: "pipe",
      stdin: "ignore",
    },
  );
  let said = "";
  void (async () => {
    for await (const bytes of child.stdout) said += Buffer.from(bytes).toString();
  })();
  /** As this namespace counts. */
  const pid = () => processIds().find((id) => commandOf(id) === join(place, "svc-entrypoint"));
  return { child, said: () => said, pid };
}

const TERM = constants.signals.SIGTERM;

/** Whether a process has a handler for a signal (proc_pid_status(5)). */
function catches(pid: number | undefined, signal: number): boolean {
  if (pid === undefined) return false;
  const mask = /^SigCgt:\t([0-9a-f]+)$/m.exec(statusOf(pid))?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

describe("the first process of a sandbox", () => {
  test.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["exit 255", 255],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
  ])("exits with the daemon's status: %s", async (script, code) => {
    expect(await first(script).child.exited).toBe(code);
  });

  test("forwards signals, and waits for the daemon to exit", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 11],
      ["SIGINT", 12],
      ["SIGHUP", 13],
    ] as const) {
      const run = first(
        `trap 'sleep 0.2; exit 11' TERM; trap 'exit 12' INT; trap 'exit 13' HUP; echo ready; while :; do sleep 0.05; done`,
      );
      await until("it runs", () => run.said().includes("ready"));
      killFound(run.pid(), signal);
      expect(await run.child.exited).toBe(code);
    }
  });

  test(`loses no signal, at any moment`, async () => {
    const random = generator(SEED);
    const moments = Array.from({ length: RUNS }, () => random(4) * random(15));
    const work = async () => {
      for (let ms = moments.pop(); ms !== undefined; ms = moments.pop()) {
        const run = first(`echo begun; trap 'exit 11' TERM; while :; do sleep 0.01; done`);
        const isThere = ms % 2 ? () => catches(run.pid(), TERM) : () => run.said() === "begun\n";
        await until("it can be sent a signal", isThere);
        await Bun.sleep(ms);
        killFound(run.pid(), "SIGTERM");
        // a daemon that has not come to its trap dies of the signal itself
        expect([11, 128 + TERM]).toContain(await run.child.exited);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  });

  test("handles signals before the daemon has started", async () => {
    for (let runs = 0; runs < RUNS; runs += AT_ONCE) {
      const all = Array.from({ length: AT_ONCE }, () => first("kill -TERM $PPID; sleep 60").child.exited);
      expect(await Promise.all(all)).toEqual(all.map(() => 128 + TERM));
    }
  });

  test("reaps orphans, and keeps the exit codes of the daemon's children", async () => {
    const run = first(`
      for i in $(seq 50); do (setsid sh -c 'sleep 0.0$((RANDOM % 9)); exit 3' &) ; done
      sh -c 'exit 5'; echo "own $?"
      for i in $(seq 100); do
        sleep 0.05
        zombies=$(grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l)
        [ $zombies = 0 ] && ! grep -qx sleep /proc/[0-9]*/comm && break
      done
      echo "zombies $zombies"
      exit 9`);
    expect(await run.child.exited).toBe(9);
    expect(run.said()).toBe("own 5\nzombies 0\n");
  });

  test("does not show its environment, which holds the sandbox service key", async () => {
    const run = first(`
      echo "owner $(stat -c %u /proc/1/environ)"
      setpriv --reuid=48123 --regid=48123 --clear-groups cat /proc/1/environ 2>&1 | tr -d '\\0' | grep -c svc_sb_x`);
    await run.child.exited;
    expect(run.said()).toBe("owner 0\n0\n");
  });

  test("reports a missing daemon", async () => {
    const place = mkdtempSync(join(folder, "run-"));
    linkSync(join(folder, "svc-entrypoint"), join(place, "svc-entrypoint"));
    const child = Bun.spawn([join(place, "svc-entrypoint")], { stderr: "pipe", env: cleanEnvironment() });
    expect(await child.exited).toBe(127);
    expect(await new Response(child.stderr).text()).toMatch(
      /^svc-entrypoint: .*svc-agent cannot be started: .*\n$/,
    );
  });
});
