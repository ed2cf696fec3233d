import { expect } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findSandbox } from "../../src/sandboxes/local/find.ts";
import { createFolder, folderOf, writeState } from "../../src/sandboxes/local/folder.ts";
import { processAt } from "../../src/sandboxes/local/processes.ts";
import { needs } from "../helpers/needs.ts";
import { until } from "../helpers/until.ts";

const test = needs("mkfifo", Bun.which("mkfifo") !== null);

test("a sandbox that ends while svc looks at it is never one that ended without an exit code", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-find-"));
  const sessionId = crypto.randomUUID();
  const folder = folderOf(dataDir, sessionId);
  await createFolder(folder);
  const supervisor = Bun.spawn(["sleep", "600"]);
  const { started = "" } = (await processAt(supervisor.pid)) ?? {};
  const state = {
    installation: "test",
    generation: 1,
    pid: supervisor.pid,
    started,
    port: 1,
    runtimePort: 2,
  };
  await writeState(folder, { ...state, walls: null, volume: null, polledBytes: null });
  const find = () => findSandbox({ installation: "test" }, folder, sessionId);
  const exit = join(folder.path, "exit");
  expect(Bun.spawnSync(["mkfifo", exit]).success).toBe(true);

  // it reads the exit code, and has nothing yet, while the sandbox ends
  const found = find();
  let pipe = -1;
  await until("the exit code is read", () => {
    try {
      pipe = openSync(exit, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      return false;
    }
    return true;
  });
  supervisor.kill();
  await supervisor.exited;
  writeFileSync(join(folder.path, "exit.new"), "3\n");
  renameSync(join(folder.path, "exit.new"), exit);
  closeSync(pipe);
  expect(await found).toMatchObject({ state: "running" });
  expect(await find()).toMatchObject({ state: "ended", exitCode: 3 });
  rmSync(dataDir, { recursive: true, force: true });
});
