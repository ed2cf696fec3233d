import { expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runGit } from "../helpers/git-repo.ts";
import { descendantsOf, killIfThere } from "../helpers/processes.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { type Sandbox, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const SAVE_INTERVAL_MS = 200;
const SECRET = "hunter2-hunter2";
const KILLS = share(4, 80);
const AT_ONCE = 4;
/** Between two writes of the work. */
const WRITE_MS = 15;

test(`a sandbox killed at any moment leaves saved work that is complete and recent (seed ${SEED})`, async () => {
  const draw = generator(SEED);
  for (let kills = 0; kills < KILLS; kills += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => killedAfter(draw(1_500))));
});

async function killedAfter(ms: number): Promise<void> {
  await using sandbox = await startSandbox({
    command: [process.execPath, resolve("test/helpers/saving-agent.ts")],
    env: {
      TEST_SAVE_INTERVAL_MS: String(SAVE_INTERVAL_MS),
      SVC_PROJECT_SECRET_NAMES: "PASSWORD",
      PASSWORD: SECRET,
    },
    files: { ".gitignore": "ignored\n*.ignored\n", "work.txt": "0\n" },
  });
  const { repository, sessionId } = sandbox;
  await sandbox.untilHealth("it is cloned", ({ clone }) => clone === "ok");
  const ref = `refs/svc/saved/${sessionId}`;
  const branch = await repository.git("rev-parse", `refs/heads/${sessionId}`);
  const show = async (path: string) =>
    (await runGit(repository.directory, ["show", `${ref}:${path}`], { codes: [0, 128] })).stdout.toString();
  let written = 0;
  const work = setInterval(() => write(sandbox, written++), WRITE_MS);
  await until("something is saved", async () => (await show("new.txt")) !== "");
  const known = written;
  await until("what came later is saved", async () => Number(await show("new.txt")) >= known);
  await Bun.sleep(ms);
  kill(sandbox);
  clearInterval(work);
  await sandbox.child.exited;

  // each file is as it was at one moment
  const [state = 0, ...others] = new Set((await show("work.txt")).trim().split("\n").map(Number));
  expect(others).toEqual([]);
  expect(state).toBeGreaterThanOrEqual(known);
  expect((await repository.git("ls-tree", "-r", "--name-only", ref)).split("\n")).toEqual([
    ".gitignore",
    "a.txt",
    "new.txt",
    "work.txt",
  ]);
  expect(await repository.git("rev-parse", `refs/heads/${sessionId}`)).toBe(branch);
  expect(await repository.git("fsck", "--strict", "--connectivity-only")).not.toContain("missing");
  const objects = await runGit(repository.directory, ["cat-file", "--batch", "--batch-all-objects"]);
  expect(objects.stdout.includes(SECRET)).toBe(false);
}

function write({ workspace }: Sandbox, state: number): void {
  const put = (path: string, text: string) => {
    const file = join(workspace, path);
    writeFileSync(`${file}.ignored`, text);
    renameSync(`${file}.ignored`, file);
  };
  put("work.txt", `${state}\n`.repeat(20_000));
  put("new.txt", `${state}\n`);
  writeFileSync(join(workspace, "ignored"), "x");
  writeFileSync(join(workspace, "leak.txt"), `${state} ${SECRET}\n`);
  writeFileSync(join(workspace, ".env"), "A=1\n");
}

/** The daemon and all that it has started, at once. */
function kill({ child }: Sandbox): void {
  const others = descendantsOf(child.pid);
  child.kill("SIGKILL");
  for (const { pid } of others) killIfThere(pid);
}
