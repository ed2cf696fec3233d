import { afterAll, beforeAll, describe, expect, jest, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { Runner } from "../../src/git/run/run.ts";
import { QUIET, temporary } from "../helpers/git-repo.ts";
import { statusOf } from "../helpers/processes.ts";
import { until, untilSteady } from "../helpers/until.ts";

/** Stands at git's place: a shell that runs its first argument. */
let shell: string;
let runner: Runner;
let directory: Awaited<ReturnType<typeof temporary>>;

beforeAll(async () => {
  directory = await temporary();
  shell = `${directory.path}/shell`;
  await writeFile(shell, '#!/bin/sh\neval "$1"\n');
  await chmod(shell, 0o755);
  runner = new Runner(directory.path, QUIET, shell);
});

afterAll(async () => {
  await runner.close();
  await directory[Symbol.asyncDispose]();
});

test("returns exit status, output and errors unchanged", async () => {
  const result = await run("printf 'a\\377b'; echo bad >&2; exit 7");
  expect(result).toMatchObject({ code: 7, signal: null, stopped: null, stderr: "bad\n" });
  expect([...result.stdout]).toEqual([97, 255, 98]);
});

test.each([10, 2_000_000])(
  "reports a git that exits before it has read its input (%p bytes)",
  async (bytes) => {
    const written: boolean[] = [];
    const file = `${directory.path}/exits-${bytes}`;
    const result = await runner.run({
      args: [`echo $$ > ${file}; kill -9 $$`],
      environment: GIT_ENVIRONMENT,
      async feed(write) {
        // its exit is not reported yet, since the event loop does not run
        blockUntil(() => hasExited(pidIn(file)));
        written.push(await write(new Uint8Array(bytes)));
        written.push(await write(new Uint8Array(bytes)));
      },
      interact(write) {
        blockUntil(() => hasExited(pidIn(file)));
        write("x".repeat(bytes));
      },
      deadlineMs: WAIT_LIMIT_MS,
      outputBytes: 100,
    });
    expect(result).toMatchObject({ code: null, signal: "SIGKILL", stopped: null });
    expect(written[0]).toBe(false);
    await Bun.sleep(50);
  },
);

test("standard input arrives completely", async () => {
  const text = "x".repeat(300_000);
  const result = await runner.run({
    args: ["wc -c"],
    environment: GIT_ENVIRONMENT,
    stdin: text,
    deadlineMs: WAIT_LIMIT_MS,
    outputBytes: 100,
  });
  expect(Buffer.from(result.stdout).toString().trim()).toBe("300000");
});

test("a signal is not an exit status", async () => {
  expect(await run("kill -ABRT $$")).toMatchObject({ code: null, signal: "SIGABRT", stopped: null });
});

test("is stopped with all its children at its deadline", async () => {
  const file = `${directory.path}/child`;
  const running = run(`sleep 600 & echo $! > ${file}; sleep 600`, { deadlineMs: 1 });
  // the deadline is over, and takes effect once the event loop runs again
  blockUntil(() => pidIn(file) !== null);
  expect(await running).toMatchObject({ code: null, signal: "SIGKILL", stopped: "deadline" });
  await untilGone(file);
});

test("a child that outlives git is stopped too", async () => {
  const file = `${directory.path}/child2`;
  await run(`(sleep 600 >/dev/null 2>&1 & echo $! > ${file})`);
  await untilGone(file);
});

test("is stopped at the output limit", async () => {
  expect(await run("yes", { outputBytes: 100_000 })).toMatchObject({ stopped: "output" });
});

test("keeps only the beginning of endless stderr", async () => {
  const result = await run("head -c 5000000 /dev/zero | tr '\\0' e >&2; exit 3");
  expect(result.code).toBe(3);
  expect(result.stderr.length).toBe(10 * 1024);
});

test("the caller can cancel it, before and while it runs", async () => {
  const early = new AbortController();
  early.abort();
  expect(await run("sleep 60", { signal: early.signal })).toMatchObject({ stopped: "caller" });
  const late = new AbortController();
  setTimeout(() => late.abort(), 100);
  expect(await run("sleep 60", { signal: late.signal })).toMatchObject({ stopped: "caller" });
  const taken: number[] = [];
  const streamed = await run("yes", { onStdout: (chunk) => taken.push(chunk.length) < 3 });
  expect(streamed.stopped).toBe("caller");
  expect(taken.length).toBe(3);
});

test("a slow reader does not use up the deadline, only the total time limit", async () => {
  jest.useFakeTimers();
  try {
    const pieces: unknown[] = [];
    const slowly = async (piece: unknown) => {
      await null;
      jest.advanceTimersByTime(4_000);
      pieces.push(piece);
      return true;
    };
    const slow = { deadlineMs: 3_000, onStdout: slowly };
    expect(await run("echo 1", slow)).toMatchObject({ code: 0, stopped: null });
    expect(pieces).toHaveLength(1);
    expect(await run("yes", { ...slow, wallMs: 10_000 })).toMatchObject({ stopped: "deadline" });
    expect(pieces.length).toBeGreaterThanOrEqual(3);
  } finally {
    jest.useRealTimers();
  }
});

test("a reader that throws leaves nothing behind", async () => {
  const file = `${directory.path}/reader`;
  const failing = run(`echo $$ > ${file}; exec yes`, {
    onStdout() {
      throw new Error("reader");
    },
  });
  expect(failing).rejects.toThrow("reader");
  await failing.catch(() => {});
  await untilGone(file);
});

test.skipIf(process.platform !== "linux")("memory of a child past the limit stops it", async () => {
  const hungry =
    'sh -c "exec awk \'BEGIN { s = \\"xxxxxxxx\\"; for (i = 0; i < 24; i++) s = s s; while (1) x++ }\'"';
  expect(await run(hungry, { memory: 60 * 1024 * 1024 })).toMatchObject({
    stopped: "memory",
  });
});

test("is stopped by a full disk", async () => {
  expect(await run("sleep 60", { diskFull: async () => true })).toMatchObject({ stopped: "disk" });
});

test("closing stops everything, and nothing starts afterwards", async () => {
  const other = new Runner(directory.path, QUIET, shell);
  const pending = other.run({ args: ["sleep 60"], environment: GIT_ENVIRONMENT, deadlineMs: 60_000 });
  const held = other.open(["sleep 60"], GIT_ENVIRONMENT);
  await other.close();
  expect(await pending).toMatchObject({ stopped: "closing" });
  await until("it is gone", () => hasExited(held.pid));
  expect(await other.run({ args: ["true"], environment: GIT_ENVIRONMENT, deadlineMs: 1000 })).toMatchObject({
    stopped: "closing",
  });
});

test("a buffer written to standard input is freed at once, unless it is part of a larger one", async () => {
  const whole = new Uint8Array(1_000_000);
  const part = new Uint8Array(2_000_000).subarray(0, 1_000_000);
  const result = await run("wc -c", {
    async feed(write) {
      for (const piece of [whole, part]) expect(await write(piece)).toBe(true);
    },
  });
  expect(Buffer.from(result.stdout).toString().trim()).toBe("2000000");
  expect([whole.byteLength, part.byteLength]).toEqual([0, 1_000_000]);
});

describe("a stream", () => {
  test("waits for its reader, and arrives completely", async () => {
    const progress = `${directory.path}/progress`;
    const script = `i=0; while [ $i -lt 60 ]; do head -c 250000 /dev/zero; i=$((i+1)); echo $i >${progress}; done`;
    const { stdout, ended } = stream(script);
    const reader = stdout.getReader();
    let bytes = (await reader.read()).value?.byteLength ?? 0;
    let written = 0;
    await untilSteady("it waits", () => {
      const before = written;
      written = existsSync(progress) ? Number(readFileSync(progress, "utf8")) : 0;
      return written === before;
    });
    expect(written).toBeLessThan(20);
    for (let { value } = await reader.read(); value; { value } = await reader.read())
      bytes += value.byteLength;
    expect(bytes).toBe(15_000_000);
    expect(await ended).toMatchObject({ code: 0, stopped: null });
  });

  test("ends if it is not read, or its reader is cancelled", async () => {
    expect(await stream("yes", { stallMs: 200 }).ended).toMatchObject({ code: null, stopped: "caller" });
    const { stdout, ended } = stream("yes");
    await stdout.cancel();
    expect(await ended).toMatchObject({ code: null, stopped: "caller" });
  });

  test("that is truncated fails at its reader", async () => {
    const { stdout } = stream("echo some; kill -KILL $$");
    await expect(new Response(stdout).text()).rejects.toThrow("git was stopped");
  });
});

function stream(script: string, options: Partial<Parameters<Runner["stream"]>[0]> = {}) {
  return runner.stream({
    args: [script],
    environment: GIT_ENVIRONMENT,
    deadlineMs: WAIT_LIMIT_MS,
    stallMs: WAIT_LIMIT_MS,
    ...options,
  });
}

function run(script: string, options: Partial<Parameters<Runner["run"]>[0]> = {}) {
  return runner.run({
    args: [script],
    environment: GIT_ENVIRONMENT,
    deadlineMs: WAIT_LIMIT_MS,
    outputBytes: 1_000_000,
    ...options,
  });
}

/** Waits without running the event loop. */
function blockUntil(isSo: () => boolean): void {
  const end = performance.now() + WAIT_LIMIT_MS;
  while (!isSo()) {
    if (performance.now() > end) throw new Error("the process did nothing");
    Bun.sleepSync(5);
  }
}

/** The number that a script has written to a file; null before. */
function pidIn(file: string): number | null {
  const [, pid] = (existsSync(file) && /^(\d+)\n/.exec(readFileSync(file, "utf8"))) || [];
  return pid === undefined ? null : Number(pid);
}

async function untilGone(file: string): Promise<void> {
  const pid = pidIn(file);
  expect(pid).toBeGreaterThan(0);
  await until("it is gone", () => hasExited(pid));
}

/** Whether a process has ended; its parent may not have noticed yet. */
function hasExited(pid: number | null): boolean {
  if (pid === null) return false;
  const [, state = "Z"] =
    process.platform === "linux"
      ? (/^State:\s*(\S)/m.exec(statusOf(pid)) ?? [])
      : (/^(\S)/.exec(Bun.spawnSync(["ps", "-o", "state=", "-p", `${pid}`]).stdout.toString()) ?? []);
  return state === "Z" || state === "X";
}
