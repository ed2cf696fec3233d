import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SVC } from "../helpers/cli-run.ts";
import { installSvc } from "../helpers/installed.ts";
import { makeRelease, makeReleaseKey, serveReleases } from "../helpers/release.ts";
import { until } from "../helpers/until.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-notice-"));
const key = makeReleaseKey();
const DAY = 86_400_000;
const NOW = Date.parse("2026-11-20T12:00:00Z");
const NOTICE = /svc 99\.0\.0 is available \(this is .*\)\. Run: svc update/;
let server: ReturnType<typeof serveReleases>;

beforeAll(() => {
  makeRelease(folder, { version: "99.0.0", key });
  server = serveReleases(folder);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});
function install(state?: object, source = server) {
  const svc = installSvc(source.url, key);
  const path = join(svc.home.home, ".local/state/svc/update.json");
  if (state) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(state));
  }
  return {
    state: () => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null),
    /** On a terminal, at a fixed time. */
    run: (args: string[], options: Parameters<typeof svc.run>[1] = {}) =>
      svc.run(args, { tty: { stderr: true }, self: SVC, ...options }),
  };
}

test("the newest version is looked up in the background and shown after a later command, once a day", async () => {
  const source = serveReleases(folder);
  const svc = install(undefined, source);
  expect((await svc.run(["hosts", "ls"])).err).not.toMatch(NOTICE);
  await until("the background check has an answer", () => svc.state()?.latest === "99.0.0");
  expect(source.requests).toEqual(["/releases/latest"]);
  expect((await svc.run(["hosts", "ls"])).err).toMatch(NOTICE);
  expect((await svc.run(["hosts", "ls"])).err).not.toMatch(NOTICE);
  expect(svc.state()).toEqual({ checked_at: NOW, noticed_at: NOW, latest: "99.0.0" });
  expect(source.requests).toHaveLength(1);
  await source.stop();
});

const seen = { checked_at: NOW, latest: "99.0.0" };
test.each([
  ["a day later", { ...seen, noticed_at: NOW - DAY }, true],
  ["a minute before that", { ...seen, noticed_at: NOW - DAY + 60_000 }, false],
  ["after the clock went back by years", { ...seen, noticed_at: NOW + 900 * DAY }, true],
  ["of an older version", { ...seen, latest: "0.0.1", noticed_at: 0 }, false],
  ["of something that is no version", { ...seen, latest: "\x1b[31m", noticed_at: 0 }, false],
  ["from a state of another shape", { checked_at: "x", latest: 5 }, false],
])("a notice %s", async (_, state, isShown) => {
  const { code, err } = await install(state).run(["hosts", "ls"]);
  expect([code, NOTICE.test(err)]).toEqual([0, isShown]);
});

test.each<[string, string[], Parameters<ReturnType<typeof install>["run"]>[1]]>([
  ["with --json", ["hosts", "ls", "--json"], {}],
  ["with --jq", ["hosts", "ls", "--jq", "."], {}],
  ["with --quiet", ["hosts", "ls", "--quiet"], {}],
  ["in CI", ["hosts", "ls"], { env: { CI: "true" } }],
  ["with SVC_NO_UPDATE_CHECK", ["hosts", "ls"], { env: { SVC_NO_UPDATE_CHECK: "1" } }],
  ["in a sandbox", ["help"], { env: { SVC_SESSION_ID: "x", SVC_CLI_TOKEN: "x" } }],
  ["without a terminal", ["hosts", "ls"], { tty: { stderr: false, stdout: true } }],
  ["from git", ["git-credential", "store"], {}],
  ["for completion", ["__complete", "cr"], {}],
  ["after version", ["version"], {}],
])("no notice and no check %s", async (_, args, options) => {
  const svc = install({ checked_at: 0, noticed_at: 0, latest: "99.0.0" });
  const { err } = await svc.run(args, options);
  expect(err).not.toMatch(NOTICE);
  expect(svc.state()).toEqual({ checked_at: 0, noticed_at: 0, latest: "99.0.0" });
});

test("without a record, or in a home that cannot be written, nothing is checked", async () => {
  // of its own: the checks of other tests may still arrive at theirs
  const source = serveReleases(folder);
  const svc = install(undefined, source);
  const elsewhere = await svc.run(["hosts", "ls"], { env: { HOME: folder } });
  expect([elsewhere.code, elsewhere.err]).toEqual([0, expect.not.stringContaining("svc update")]);
  const readOnly = await svc.run(["hosts", "ls"], { env: { XDG_STATE_HOME: "/dev/null/state" } });
  expect([readOnly.code, source.requests]).toEqual([0, []]);
  await source.stop();
});

test("the check is silent when the server fails", async () => {
  const { run, state } = install({ checked_at: NOW, noticed_at: NOW, latest: null });
  server.faults["/latest"] = () => new Response("no", { status: 500 });
  const { code, out, err } = await run(["__check-update"]);
  delete server.faults["/latest"];
  expect([code, out, err, state().latest]).toEqual([0, "", "", null]);
});
