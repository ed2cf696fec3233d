import { afterAll, expect } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { VERSION } from "../../src/contract/version.ts";
import { cliEnv, spawnOnTerminal } from "../helpers/cli-run.ts";
import { installSvc } from "../helpers/installed.ts";
import { needs } from "../helpers/needs.ts";
import { makeRelease, makeReleaseKey, serveReleases } from "../helpers/release.ts";
import { runCommand } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

const test = needs("xz", Bun.which("xz") !== null);
/** Another user than the one who installed it. */
const STRANGER = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "--"];
const before = process.getuid?.() === 0 ? STRANGER : [];

const releases = mkdtempSync(join(tmpdir(), "svc-releases-"));
const key = makeReleaseKey();
const server = serveReleases(releases);
afterAll(async () => {
  await server.stop();
  rmSync(releases, { recursive: true });
});

test("the compiled svc replaces itself while it runs, and removes itself", async () => {
  const svc = installSvc(server.url, key);
  copyFileSync(resolve("dist/svc"), svc.program);
  const run = (command: string[]) => runCommand(command, { cwd: "/", env: cliEnv(svc.home.home) });
  makeRelease(releases, { version: VERSION, key });
  expect((await run([svc.link, "update", "--json=action"])).out).toBe('{"action":"current"}\n');
  makeRelease(releases, { version: "99.0.0", key });

  const folder = dirname(svc.program);
  chmodSync(svc.home.home, 0o755);
  chmodSync(folder, before.length > 0 ? 0o755 : 0o555);
  const refused = await run([...before, svc.link, "update"]);
  chmodSync(folder, 0o755);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`Cannot write to ${folder}`)]);
  expect(svc.bin()).toEqual(["svc"]);

  const { ino } = statSync(svc.program);
  const updated = await run([svc.link, "update"]);
  const sentence = `Updated svc from ${VERSION} to 99.0.0. To undo: svc update --rollback\n`;
  expect([updated.code, updated.out]).toEqual([0, sentence]);
  expect([svc.version(svc.link), statSync(`${svc.program}.prev`).ino]).toEqual(["99.0.0", ino]);

  // what a person does if the new program does not start (docs/install.md)
  expect((await run(["mv", `${svc.program}.prev`, svc.program])).code).toBe(0);
  let drawn = "";
  const { child, exited } = spawnOnTerminal(
    [svc.link, "uninstall"],
    { home: svc.home },
    [100, 30],
    (bytes) => {
      drawn += Buffer.from(bytes).toString();
    },
  );
  await until(
    () => `it asks: ${drawn}`,
    () => drawn.includes("Remove"),
  );
  child.terminal?.write("y");
  expect((await exited).code).toBe(0);
  expect([existsSync(join(svc.home.home, ".svc")), existsSync(svc.link)]).toEqual([false, false]);
});
