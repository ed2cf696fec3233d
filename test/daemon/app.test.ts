import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../daemon/app/context.ts";
import { type AppLimits, type AppProcess, superviseApp } from "../../daemon/app/process.ts";
import { createChildren } from "../../daemon/process/children.ts";
import { loadLibc } from "../../daemon/process/libc.ts";
import { reapOrphans } from "../../daemon/process/reaper.ts";
import { readSettings } from "../../daemon/settings.ts";
import { freePort } from "../../scripts/free-port.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { allProcesses, killFound } from "../helpers/processes.ts";
import { leastEnvironment } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { writeWhole } from "../helpers/write-whole.ts";

/** The supervision alone. It pauses briefly; only a test of a limit has one that is reached. */
const LIMITS: Partial<AppLimits> = {
  startMs: WAIT_LIMIT_MS,
  firstPauseMs: 20,
  longestPauseMs: 80,
  startCheckMs: 20,
  checkMs: 50,
  checkTimeoutMs: WAIT_LIMIT_MS,
  termMs: 300,
};
/** Answers with the status that stands in the file `status`. */
const PROGRAM = `Bun.serve({
  hostname: "127.0.0.1",
  port: process.env.PORT,
  fetch: async () => new Response("", { status: Number(await Bun.file("status").text()) }),
});`;

/** As in a daemon, a program whose shell has exited becomes a child of this process. */
const children = createChildren();
const libc = loadLibc();
if (libc?.adoptOrphans()) reapOrphans(libc, children.isOurs);

const running: { process: AppProcess; folder: string }[] = [];
afterEach(async () => {
  for (const { process, folder } of running.splice(0)) {
    await process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

interface Supervised {
  limits?: Partial<AppLimits>;
  healthPath?: string;
  /** The status that the program answers at first. */
  status?: number;
  /** More files of its workspace. */
  files?: Record<string, string>;
}

async function supervise(
  command: string,
  { limits = {}, healthPath, status: first = 200, files = {} }: Supervised = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "svc-app-"));
  const workspace = join(folder, "workspace");
  for (const name of ["workspace", "home"]) mkdirSync(join(folder, name));
  const answer = (status: number) => writeWhole(join(folder, "workspace/status"), String(status));
  for (const [name, text] of Object.entries({ ...files, "program.js": PROGRAM }))
    writeFileSync(join(workspace, name), text);
  answer(first);
  const port = freePort();
  const settings = readSettings(
    {
      ...leastEnvironment(),
      SVC_WORKSPACE: join(folder, "workspace"),
      SVC_RUNTIME_HOME: join(folder, "home"),
    },
    null,
  );
  const said: string[] = [];
  const log = (text: string) => void said.push(text);
  const run = { command, port };
  const process = superviseApp(
    {
      settings,
      app: {
        slug: "web",
        commit: "0".repeat(40),
        rootPath: ".",
        build: null,
        run,
        healthPath: healthPath ?? null,
        output: null,
        // otherwise Bun ends a program whose shell has exited
        env: { BUN_FEATURE_FLAG_NO_ORPHANS: "0" },
        buildSecrets: {},
      },
      children,
      log: { info: log, app: log, build: log, check: log, runtime: log },
    },
    { ...LIMITS, ...limits },
  );
  running.push({ process, folder });
  const ended = process.keepRunning().catch((error: unknown) => error);
  return { process, answer, said, port, ended, workspace };
}

const SERVER = `exec ${process.execPath} program.js`;

test("an app that hangs is killed and restarted, also if it ignores signals", async () => {
  const { process, said } = await supervise(SERVER, { limits: { checkTimeoutMs: 1_000 } });
  await until("it answers", () => process.state === "ok");
  const { pid } = process;
  killFound(pid, "SIGSTOP");
  await until("another answers", () => process.state === "ok" && process.pid !== pid);
  expect(said).toContain("The app hangs: it does not respond to HTTP requests.");
  expect(allProcesses().filter((found) => found.pid === pid)).toEqual([]);
});

test("an app that returns errors counts as running once it has returned a success", async () => {
  const { process, answer, said, port } = await supervise(SERVER, { status: 503 });
  await until("it is known why", () => process.problem === "The app returns status 503 for /.");
  expect(process.state).toBe("starting");
  answer(404);
  await until("it answers", () => process.state === "ok");
  const { pid } = process;
  answer(500);
  const asked = async () => (await fetch(`http://127.0.0.1:${port}/`)).status;
  for (let turn = 0; turn < 20; turn++) {
    expect(await asked()).toBe(500);
    await Bun.sleep(20);
  }
  expect(process).toMatchObject({ pid, state: "ok", problem: null });
  expect(said).toEqual(["the app is healthy"]);
});

test("an app with a health path is ready after a 2xx status, and is restarted after three others in a row", async () => {
  const healthPath = "/healthz?full=1";
  const { process, answer, said } = await supervise(SERVER, { healthPath, status: 404 });
  await until("it is known why", () => process.problem === "The app returns status 404 for /healthz?full=1.");
  expect(process.state).toBe("starting");
  answer(204);
  await until("it answers", () => process.state === "ok" && process.problem === null);
  const { pid } = process;
  answer(302);
  await until("another runs", () => process.pid !== null && process.pid !== pid);
  expect(said).toContain("The app is not healthy: it returns status 302 for /healthz?full=1.");
  expect(process.state).not.toBe("ok");
  answer(200);
  await until("it answers again", () => process.state === "ok" && process.problem === null);
});

test.each([
  ["ends each time", "exit 3", {}, "The app ended with exit status 3."],
  ["is killed each time", "kill -9 $$", {}, "The app was ended by SIGKILL."],
  [
    "never listens",
    "exec sleep 600",
    { startMs: 500 },
    /^The app does not listen on port \d+, 1 seconds? after/,
  ],
] as const)(
  "an app that %s before its first response fails with the reason",
  async (_, command, limits, reason) => {
    const { process, said, ended } = await supervise(command, { limits });
    const error = await ended;
    const { kind, message } = error instanceof AppError ? error : expect.unreachable();
    expect([kind, message]).toEqual(["app", expect.stringMatching(reason)]);
    expect(process).toMatchObject({ state: "failed", pid: null });
    expect(said.at(-1)).toBe(message);
  },
);

/** Answers requests, and on SIGTERM writes to the file `finished` half a second later. */
const FINISHING = `Bun.serve({ hostname: "127.0.0.1", port: process.env.PORT, fetch: () => new Response("") });
process.on("SIGTERM", async () => {
  await Bun.sleep(500);
  require("node:fs").appendFileSync("finished", "yes;");
  process.exit();
});`;

test.each([
  ["replaces the shell", `exec ${process.execPath} finishing.js`],
  ["is started by a shell, which exits at once", `${process.execPath} finishing.js; true`],
  ["has a session of its own", `setsid ${process.execPath} finishing.js & wait`],
  [
    "needs a program that it starts after the signal",
    `trap 'sleep 0.5; printf "yes;" > finished; kill -9 $!; exit' TERM; ${SERVER} & wait`,
  ],
])("a program that is stopped gets one SIGTERM, and time to finish, if it %s", async (_, command) => {
  const limits = { termMs: WAIT_LIMIT_MS };
  const { process: app, workspace } = await supervise(command, {
    limits,
    files: { "finishing.js": FINISHING },
  });
  await until("it answers", () => app.state === "ok");
  await app.stop();
  expect(readFileSync(join(workspace, "finished"), "utf8")).toBe("yes;");
});
