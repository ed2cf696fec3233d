import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { Runner } from "../../src/git/run/run.ts";
import { QUIET, temporary } from "../helpers/git-repo.ts";
import { untilSteady } from "../helpers/until.ts";

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
    const result = await runner.run({
      args: ["kill -9 $$"],
      environment: GIT_ENVIRONMENT,
      async feed(write) {
        // it has exited by then, but its exit is not reported yet
        Bun.sleepSync(100);
        written.push(await write(new Uint8Array(bytes)));
        written.push(await write(new Uint8Array(bytes)));
      },
      interact(write) {
        Bun.sleepSync(100);
        write("x".repeat(bytes));
      },
      deadlineMs: 5_000,
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
    deadlineMs: 5000,
    outputBytes: 100,
  });
  expect(Buffer.from(result.stdout).toString().trim()).toBe("300000");
});

test("a signal is not an exit status", async () => {
  expect(await run("kill -ABRT $$")).toMatchObject({ code: null, signal: "SIGABRT", stopped: null });
});

test("is stopped with all its children at its deadline", async () => {
  const result = await run(`sleep 60 & echo $! > ${directory.path}/child; sleep 60`, { deadlineMs: 2_000 });
  expect(result).toMatchObject({ code: null, signal: "SIGKILL", stopped: "deadline" });
  expect(await isGone(Number(await Bun.file(`${directory.path}/child`).text()))).toBe(true);
});

test("a child that outlives git is stopped too", async () => {
  await run(`(sleep 60 >/dev/null 2>&1 & echo $! > ${directory.path}/child2)`);
  expect(await isGone(Number(await Bun.file(`${directory.path}/child2`).text()))).toBe(true);
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
  const slow = { onStdout: () => Bun.sleep(4_000).then(() => true) };
  expect(await run("echo 1", { deadlineMs: 3_000, ...slow })).toMatchObject({ code: 0, stopped: null });
  expect(
    await run("yes", { deadlineMs: 60_000, wallMs: 600, onStdout: () => Bun.sleep(50).then(() => true) }),
  ).toMatchObject({
    stopped: "deadline",
  });
});

test("a reader that throws leaves nothing behind", async () => {
  const failing = run(`echo $$ > ${directory.path}/reader; exec yes`, {
    onStdout() {
      throw new Error("reader");
    },
  });
  expect(failing).rejects.toThrow("reader");
  await failing.catch(() => {});
  expect(await isGone(Number(await Bun.file(`${directory.path}/reader`).text()))).toBe(true);
});

test.skipIf(process.platform !== "linux")("memory of a child past the limit stops it", async () => {
  const hungry =
    'sh -c "exec awk \'BEGIN { s = \\"xxxxxxxx\\"; for (i = 0; i < 24; i++) s = s s; while (1) x++ }\'"';
  expect(await run(hungry, { memory: 60 * 1024 * 1024, deadlineMs: 10_000 })).toMatchObject({
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
  expect(await isGone(held.pid)).toBe(true);
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
    const script = `i=0; while [ $i -lt 400 ]; do head -c 250000 /dev/zero; i=$((i+1)); echo $i >${progress}; done`;
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
    expect(bytes).toBe(100_000_000);
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
    deadlineMs: 20_000,
    stallMs: 5_000,
    ...options,
  });
}

function run(script: string, options: Partial<Parameters<Runner["run"]>[0]> = {}) {
  return runner.run({
    args: [script],
    environment: GIT_ENVIRONMENT,
    deadlineMs: 5000,
    outputBytes: 1_000_000,
    ...options,
  });
}

async function isGone(pid: number): Promise<boolean> {
  expect(pid).toBeGreaterThan(0);
  for (let tries = 0; tries < 50; tries++) {
    const status = await Bun.file(`/proc/${pid}/status`)
      .text()
      .catch(() => "");
    if (process.platform === "linux" ? status === "" || /^State:\s*Z/m.test(status) : !isAlive(pid))
      return true;
    await Bun.sleep(20);
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
