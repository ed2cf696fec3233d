import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnvironment } from "../helpers/api.ts";

/** A folder as a repository may hold it: what Bun would run and read before any of our code. */
const folder = mkdtempSync(join(tmpdir(), "svc-hostile-"));
const ran = join(folder, "ran");

beforeAll(() => {
  writeFileSync(
    join(folder, ".env"),
    "SVC_PORT=not-a-port\nSVC_API_URL=http://evil.invalid/v1\nSVC_CLI_TOKEN=svc_pat_evil\nSVC_PROJECT_ID=evil\n",
  );
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
  writeFileSync(join(folder, "harmless.ts"), "");
  writeFileSync(join(folder, "evil.ts"), `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "x");`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(command: string[]) {
  const env = {
    ...cleanEnvironment(),
    HOME: folder,
    SVC_DATA_DIR: join(folder, "data"),
    SVC_LOG_LEVEL: "silent",
  };
  const child = Bun.spawn(command, { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code: child.exitCode, out, err };
}

test("Bun itself runs code from the folder's configuration", async () => {
  await run([process.execPath, "harmless.ts"]);
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
});

test("svc-api runs nothing from its working directory, and reads no .env", async () => {
  const token = await run([resolve("dist/svc-api"), "admin", "token", "--email", "a@b.c"]);
  expect([token.code, token.err]).toEqual([0, ""]);
  expect(token.out).toStartWith("svc_pat_");
  expect(existsSync(ran)).toBe(false);
});

test("svc runs nothing from its working directory, and reads no .env", async () => {
  const hosts = await run([resolve("dist/svc"), "hosts", "ls", "--json"]);
  expect([hosts.code, hosts.err]).toEqual([0, ""]);
  const whoami = await run([resolve("dist/svc"), "whoami", "--json"]);
  expect(JSON.parse(whoami.err).error.code).toBe("not_signed_in");
  expect(hosts.out + whoami.out + whoami.err).not.toContain("evil");
  expect(existsSync(ran)).toBe(false);
});

test("svc-agent, which git starts in the repository, runs nothing from it, and reads no .env", async () => {
  const daemon = await run([resolve("dist/svc-agent")]);
  expect([daemon.code, daemon.err]).toEqual([
    2,
    "svc-agent: SVC_PROJECT_ID is required: it must be a UUID.\n",
  ]);
  const helper = await run([resolve("dist/svc-agent"), "git-credential", "get"]);
  expect(helper).toEqual({ code: 0, out: "", err: "" });
  expect(existsSync(ran)).toBe(false);
});
