import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "../../scripts/free-port.ts";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { cleanEnvironment } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";

/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const svc = resolve("dist/svc");

/** Runs the commands of README.md and docs/getting-started.md. */
test("the README's commands lead from npm start to a merged change request", async () => {
  const home = mkdtempSync(join(tmpdir(), "svc-home-"));
  undo.push(() => rmSync(home, { recursive: true, force: true }));
  const remote = new Remote();
  undo.push(() => remote.remove());
  remote.commit("main", { "README.md": "hello\n" });
  const env = {
    ...cleanEnvironment(),
    ...GIT_ENVIRONMENT,
    HOME: home,
    XDG_CONFIG_HOME: "",
    XDG_DATA_HOME: "",
    SVC_PORT: String(freePort()),
    SVC_ALLOW_PRIVATE_REPOS: "1",
  };

  const run = async (command: string[], cwd: string) => {
    const child = Bun.spawn(command, { env, cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { out, err, code };
  };
  const start = async () => {
    const child = Bun.spawn([process.execPath, "scripts/start.ts"], {
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    undo.push(() => child.kill("SIGKILL"));
    let said = "";
    const reading = (async () => {
      for await (const chunk of child.stderr) said += Buffer.from(chunk).toString();
    })();
    while (!said.includes("svc cr merge") && child.exitCode === null) await Bun.sleep(20);
    const stop = async () => {
      child.kill("SIGINT");
      expect(await child.exited).toBe(0);
      await reading;
    };
    return { said, stop };
  };

  const first = await start();
  expect(first.said).toContain("signed in as");
  expect(statSync(join(home, ".config/svc/config.json")).mode & 0o777).toBe(0o600);
  expect(existsSync(join(home, ".local/share/svc/master.key"))).toBe(true);

  await run(["git", "clone", "--quiet", remote.url, join(home, "project")], home);
  const project = join(home, "project");
  expect(await run([svc, "whoami"], project)).toMatchObject({ code: 0 });
  const made = await run([svc, "projects", "new", "--repo", remote.url, "--link"], project);
  expect([made.code, existsSync(join(project, ".svc/link.json"))]).toEqual([0, true]);

  for (const step of [
    ["git", "switch", "--quiet", "-c", "greet"],
    ["sh", "-c", "echo hello > greeting.txt"],
    ["git", "add", "greeting.txt"],
    ["git", "commit", "--quiet", "-m", "Greet"],
    ["git", "push", "--quiet", "origin", "HEAD"],
  ]) {
    const done = await run(step, project);
    expect([step, done.code, done.err]).toEqual([step, 0, done.err]);
  }
  const opened = await run([svc, "cr", "open", "--title", "Greet", "--head", "greet"], project);
  expect([opened.code, opened.err]).toEqual([0, opened.err]);
  const show = await run([svc, "cr", "show", "1"], project);
  expect(show.out).toContain("Greet");
  const diff = await run([svc, "cr", "diff", "1"], project);
  expect(diff.out).toContain("+hello\n");
  const merged = await run([svc, "cr", "merge", "1", "--json"], project);
  expect(merged.code).toBe(0);
  expect(JSON.parse(merged.out)).toMatchObject({ status: "merged", merge_commit_sha: remote.sha("main") });
  expect(remote.git("show", "main:greeting.txt")).toBe("hello\n");
  await first.stop();

  // The second start keeps all data, and needs no new sign-in.
  const second = await start();
  expect(second.said).not.toContain("signed in as");
  await second.stop();
});
