import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { makeRunFolder } from "../../../scripts/test/folder.ts";
import { showProgress } from "../../../scripts/test/progress.ts";
import { LEFT_ALONE } from "../../helpers/halting.ts";
import { needs } from "../../helpers/needs.ts";
import { allProcesses } from "../../helpers/processes.ts";
import { until } from "../../helpers/until.ts";

const temporary = mkdtempSync(join(tmpdir(), "svc-command-"));
const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(temporary, { recursive: true, force: true });
});

function npmTest(...argv: string[]) {
  return Bun.spawn([process.execPath, resolve("scripts/test.ts"), ...argv], {
    env: { ...process.env, TMPDIR: temporary, SVC_TEST_SEED: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

test("runs the requested tests and repetitions, prints the seed first and totals last, and leaves nothing", async () => {
  const child = npmTest("--repeat", "3", "--load", "1", "--seed", "5", "test/slug.test");
  const said = await new Response(child.stdout).text();
  expect([said, await child.exited]).toEqual([
    expect.stringMatching(/^seed 5\n(?:removed the folder .*\n)?15 passed, 0 failed\n$/),
    0,
  ]);
  expect(readdirSync(temporary)).toEqual([]);
});

test("reports unknown patterns and options", async () => {
  for (const argv of [["nothing-of-this-name"], ["--nope"]]) {
    const child = npmTest(...argv);
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
      2,
      expect.stringContaining("npm test: "),
    ]);
  }
});

needs("Linux, whose /proc tells where processes are", process.platform === "linux")(
  "a run ends and removes the remains of a killed run, but not of a live one",
  async () => {
    const run = join(import.meta.dir, "../../../scripts/test/folder.ts");
    const script = `
      process.env.TMPDIR = ${JSON.stringify(temporary)};
      const { path } = await (await import(${JSON.stringify(run)})).makeRunFolder(() => {});
      Bun.spawn(["sleep", "1000"], { cwd: path, detached: true, stdio: ["ignore", "ignore", "ignore"] }).unref();
      Bun.spawn(["sh", "-c", "env -i sleep 1001; :", path + "/x"], { detached: true, env: { TMPDIR: path }, stdio: ["ignore", "ignore", "ignore"] }).unref();
      console.log(path);
      setInterval(() => {}, 1000);`;
    const begin = async (within: readonly string[] = []) => {
      const child = Bun.spawn([...within, process.execPath, "-e", script], {
        env: { ...process.env, ...LEFT_ALONE },
        stdio: ["ignore", "pipe", "ignore"],
      });
      children.push(child);
      const path = await firstLine(child.stdout);
      mkdirSync(join(path, "closed", "inner"), { recursive: true });
      writeFileSync(join(path, "closed", "inner", "file"), "", { mode: 0o000 });
      return { child, path };
    };
    // in a pid namespace of its own
    const namespace = ["unshare", "--pid", "--fork", "--kill-child"];
    const canUnshare = Bun.which("unshare") !== null && Bun.spawnSync([...namespace, "true"]).exitCode === 0;
    const apart = await begin(canUnshare ? namespace : []);
    const [killed, living] = [await begin(), await begin()];
    // as another user's, which cannot be locked
    const foreign = join(temporary, "svc-test-run-foreign");
    writeFileSync(foreign, "");
    killed.child.kill("SIGKILL");
    await killed.child.exited;

    const left: number[] = [];
    const next = await inTemporary(() => makeRunFolder((processes) => left.push(processes)));
    expect(left).toEqual([3]);
    expect([killed, living, apart, next].map(({ path }) => existsSync(path))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect([killed, living, apart].map(({ path }) => processesOf(path))).toEqual([0, 1, 1]);
    await next.remove();

    living.child.kill("SIGKILL");
    await living.child.exited;
    const last = await inTemporary(() => makeRunFolder((processes) => left.push(processes)));
    expect(left).toEqual([3, 3]);
    await last.remove();

    apart.child.kill("SIGKILL");
    await until("the namespace has ended, too", async () => {
      await (await inTemporary(() => makeRunFolder(() => {}))).remove();
      return !existsSync(apart.path);
    });
    expect(readdirSync(temporary)).toEqual([basename(foreign)]);
  },
);

test("progress is one line on a terminal, and occasional lines elsewhere", () => {
  for (const isTTY of [true, false]) {
    const written: string[] = [];
    let now = 0;
    const stream = Object.assign(Object.create(process.stdout), {
      write: (text: string) => written.push(text) > 0,
    });
    Object.defineProperties(stream, { isTTY: { value: isTTY }, columns: { value: 30 } });
    const progress = showProgress(stream, 9, () => now);
    progress.show(["a", "b"], 1, 0);
    progress.print("FAIL x");
    now = 60_000;
    progress.show(["c"], 2, 1);
    progress.end();
    const clear = "\r\x1b[K";
    const lines = ["1 of 9 done, 0 failed, 0.0 mi", "2 of 9 done, 1 failed, 1.0 mi"];
    expect(written).toEqual(
      isTTY
        ? [`${clear}${lines[0]}`, `${clear}FAIL x\n${lines[0]}`, `${clear}${lines[1]}`, clear]
        : ["FAIL x\n", "2 of 9 done, 1 failed, 1.0 min\n"],
    );
  }
});

/** Does something as a process does whose temporary files go elsewhere. */
async function inTemporary<T>(work: () => Promise<T>): Promise<T> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = temporary;
  return work().finally(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  });
}

function processesOf(path: string): number {
  return allProcesses().filter(({ environment }) => environment.includes(`TMPDIR=${path}`)).length;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return Buffer.from(chunk).toString().trim();
  throw new Error("it said nothing");
}
