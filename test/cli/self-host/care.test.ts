import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CHECKS } from "../../../cli/commands/self-host/doctor-checks.ts";
import { svc } from "../../helpers/cli-run.ts";
import { RUN_API, selfHosted } from "../../helpers/self-hosted.ts";

/** One server for the whole file: each test begins with the state that the one before left. */
const server = selfHosted();
const folder = mkdtempSync(join(tmpdir(), "svc-care-"));
afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

const archive = join(folder, "one.tar");
const answerOf = (stdout: string) => JSON.parse(stdout);
const whoami = () => svc(["whoami", "--json"], { home: server.home });

test("a running server is backed up, with its settings beside the archive", async () => {
  expect(await server.start("--json")).toMatchObject({ code: 0 });
  const ran = await server.selfHost("backup", archive, "--json");
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(answerOf(ran.stdout)).toMatchObject({ archive, settings: join(folder, "one.env"), has_key: true });
  for (const name of ["one.tar", "one.env"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "one.env"), "utf8")).toContain("SVC_MASTER_KEY=");
  const again = await server.selfHost("backup", archive);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("already exists") });
});

test("without the key neither file has it", async () => {
  const bare = join(folder, "bare.tar");
  expect(await server.selfHost("backup", bare, "--without-key")).toMatchObject({ code: 0 });
  const key = /SVC_MASTER_KEY=([0-9a-f]{64})/.exec(readFileSync(join(folder, "one.env"), "utf8"))?.[1] ?? "";
  expect(key).toHaveLength(64);
  expect(readFileSync(archive).includes(key)).toBe(true);
  expect(readFileSync(bare).includes(key)).toBe(false);
  expect(readFileSync(join(folder, "bare.env"), "utf8")).not.toContain("SVC_MASTER_KEY=");
});

test("doctor checks everything, and names what is wrong and what to do", async () => {
  const ran = await server.selfHost("doctor", "--json");
  const findings: { check: string; state: string; hint: string | null }[] = answerOf(ran.stdout);
  expect(findings.map(({ check }) => check)).toEqual(CHECKS.map(({ check }) => check));
  const stateOf = (name: string) => findings.find(({ check }) => check === name)?.state;
  for (const name of ["settings", "services", "answer", "version", "data"])
    expect([name, stateOf(name)]).toEqual([name, "ok"]);
  for (const { state, hint } of findings) expect(hint === null).toBe(state === "ok");

  chmodSync(join(server.dir, "env"), 0o644);
  const wrong = await server.selfHost("doctor");
  chmodSync(join(server.dir, "env"), 0o600);
  expect(wrong).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`chmod 600 ${join(server.dir, "env")}`),
  });
  expect(wrong.stderr).toContain("settings");
});

test("docs/doctor.md has a section for each check, in the same order", () => {
  const headings = [...readFileSync(resolve("docs/doctor.md"), "utf8").matchAll(/^## (.+)$/gm)];
  const anchors = headings.map(([, text = ""]) => `doctor.md#${text.toLowerCase().replaceAll(" ", "-")}`);
  expect(CHECKS.map(({ doc }) => doc)).toEqual(anchors);
});

test("a good update keeps everything; the same version is left alone", async () => {
  const before = (await whoami()).stdout;
  const same = await server.selfHost("update", "--api-binary", program("same", null), "--json");
  expect(answerOf(same.stdout)).toMatchObject({ updated: false, backup: null });
  const ran = await server.selfHost("update", "--api-binary", program("newer", "9.0.0"), "--json");
  expect(ran).toMatchObject({ code: 0 });
  expect(answerOf(ran.stdout)).toMatchObject({ to: "9.0.0", updated: true });
  expect(existsSync(answerOf(ran.stdout).backup)).toBe(true);
  expect((await whoami()).stdout).toBe(before);
  const older = await server.selfHost("update", "--api-binary", program("older", "0.0.1"));
  expect(older).toMatchObject({ code: 1, stderr: expect.stringContaining("newer than 0.0.1") });
});

test("an update that does not start is rolled back, with the data of before", async () => {
  const before = (await whoami()).stdout;
  const ran = await server.selfHost(
    "update",
    "--api-binary",
    program("broken", "9.1.0", 'rm -rf "$SVC_DATA_DIR/postgres"; exit 3'),
  );
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("the old version runs again");
  expect(ran.stderr).toContain("before-update-9.0.0-");
  expect((await whoami()).stdout).toBe(before);
  expect(readdirSync(server.dir).filter((name) => /\.(next|prev|failed)/.test(name))).toEqual([]);
});

test("a backup is restored on a machine without a server, and refused where there is one", async () => {
  const other = selfHosted();
  try {
    expect(await server.selfHost("restore", archive, "--native")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already"),
    });
    const flags = ["--native", "--api-binary", program("restoring", null)];
    const damaged = join(folder, "damaged.tar");
    writeFileSync(damaged, readFileSync(archive).subarray(0, 20_000));
    writeFileSync(join(folder, "damaged.env"), readFileSync(join(folder, "one.env")));
    expect(await other.selfHost("restore", damaged, ...flags)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("damaged"),
    });
    expect(await other.selfHost("status")).toMatchObject({ code: 1 });
    await server.selfHost("stop");
    expect(await other.selfHost("restore", archive, ...flags)).toMatchObject({ code: 0 });
    expect(await other.start()).toMatchObject({ code: 0 });
    // the tokens of the old server are valid, since key and rows are the same
    const token = JSON.parse(readFileSync(server.home.config, "utf8")).hosts.selfhost.token;
    const answer = await fetch(`http://localhost:${other.port}/v1/auth/whoami`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
  } finally {
    await other.end();
  }
});

/** An svc-api that claims a version, and does what the real one does unless `broken` says otherwise. */
function program(name: string, version: string | null, broken = ""): string {
  const path = join(mkdtempSync(join(folder, `${name}-`)), "svc-api");
  const claim = version === null ? "" : `[ "$1" = version ] && echo "svc-api ${version}" && exit`;
  const serve = broken === "" ? "" : `[ $# = 0 ] && { ${broken}; }`;
  writeFileSync(path, `#!/bin/sh\n${claim}\n${serve}\n${RUN_API}\n`);
  chmodSync(path, 0o755);
  return path;
}
