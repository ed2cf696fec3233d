import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { runBackup } from "../../src/edge/admin/backup.ts";
import { open } from "../../src/open.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { serverCommand } from "../helpers/server-command.ts";
import { until } from "../helpers/until.ts";

const MAY_MOUNT = succeeds("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt");
const test = needs("a real Postgres", POSTGRES);
const diskTest = needs("root and unshare(1), to mount a small disk", POSTGRES && MAY_MOUNT);
const folder = mkdtempSync(join(tmpdir(), "svc-backup-faults-"));
const out = join(folder, "out");
const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

let env: Record<string, string>;

beforeAll(async () => {
  if (!POSTGRES) return;
  const database = await createDatabase();
  undo.push(() => database.drop());
  env = { DATABASE_URL: database.url, SVC_DATA_DIR: join(folder, "data"), SVC_LOG_LEVEL: "silent" };
  // the first start writes the key
  await (await open(readConfig(env))).close();
  Bun.spawnSync(["mkdir", out]);
});

diskTest("a full disk ends the backup, which leaves nothing behind", async () => {
  const script = `mount -t tmpfs -o size=32k none "$TEST_OUT" && "$@"; code=$?; ls -A "$TEST_OUT"; exit $code`;
  const command = [...serverCommand("api"), "backup", "--out", join(out, "full.tar")];
  const child = Bun.spawn(["unshare", "--mount", "sh", "-c", script, "sh", ...command], {
    env: { ...process.env, ...env, TEST_OUT: out },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [left, said] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()];
  expect(await child.exited).toBe(1);
  expect(said).toMatch(/disk .* is full/);
  expect(left).toBe("");
});

test("a backup that is killed has no file under its name, and one that is cancelled has none at all", async () => {
  const stop = new AbortController();
  stop.abort(new Error("cancelled"));
  const config = readConfig(env);
  const cancelled = join(out, "cancelled.tar");
  await expect(runBackup(config, { out: cancelled, withKey: true }, stop.signal)).rejects.toThrow(
    "cancelled",
  );
  expect(readdirSync(out)).toEqual([]);

  const killed = join(out, "killed.tar");
  const child = Bun.spawn([...serverCommand("api"), "backup", "--out", killed], {
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  await until("the backup has begun", () => readdirSync(out).length > 0);
  child.kill("SIGKILL");
  await child.exited;
  // it may have ended before: then it is complete
  const names = readdirSync(out);
  expect(names).toHaveLength(1);
  if (names[0] !== "killed.tar") expect(names[0]).toEndWith(".unfinished");
  await runBackup(config, { out: join(out, "next.tar"), withKey: true }, new AbortController().signal);
  expect(readdirSync(out)).toContain("next.tar");
});

test("an existing file is never replaced", async () => {
  const mine = join(folder, "mine.tar");
  writeFileSync(mine, "mine");
  const never = new AbortController().signal;
  await expect(runBackup(readConfig(env), { out: mine, withKey: true }, never)).rejects.toThrow(
    "already exists",
  );
  expect(await Bun.file(mine).text()).toBe("mine");
});

test("a file that cannot be written is named in one line", async () => {
  const missing = join(folder, "none/svc.tar");
  const never = new AbortController().signal;
  await expect(runBackup(readConfig(env), { out: missing, withKey: true }, never)).rejects.toThrow(
    `Cannot write ${missing} (ENOENT). Name a file in a folder that exists`,
  );
});
