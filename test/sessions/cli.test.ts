import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { SandboxError } from "../../src/sandboxes/provider.ts";
import { svc } from "../helpers/cli-run.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

/** Sessions that may be on at once. */
const CAP = 2;

let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: String(CAP) } });
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.provider.onStart = () => {};
});

/** `svc sessions …` as a user of the server. */
const run = (...args: string[]) =>
  svc(["sessions", ...args], {
    env: {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    },
  });

test("a session's full life cycle from the command line", async () => {
  const begun = await run("new", "--name", "Login", "--prompt", "Fix it");
  const id = begun.stdout.split(" ")[0] ?? "";
  expect(begun).toMatchObject({ code: 0, stdout: `${id} Login: running\n` });
  expect(begun.stderr).toContain("  build | Step 1 of a build\n");
  expect((await run("ls", "--status", "running")).stdout).toStartWith(`${id}\tLogin\trunning\t`);
  expect((await run("info", id.slice(0, 6), "--jq", ".branch_name")).stdout).toBe(`${id}\n`);
  expect((await run("logs", id, "-n", "1")).stdout).toBe("\tsandbox\tthe sandbox's own words\n");

  expect(await run("stop", id)).toMatchObject({ code: 0, stdout: `${id} Login: stopped\n` });
  const log = await run("logs", id, "-f");
  expect(log).toMatchObject({ code: 0, stderr: expect.stringContaining("has ended: stopped (user).") });
  expect(log.stdout.split("\n").filter((row) => row.includes("own words"))).toHaveLength(1);
  expect(await run("restart", id)).toMatchObject({ code: 0, stdout: `${id} Login: running again\n` });

  expect((await run("rename", id, "Other")).stdout).toBe(`${id} Other: renamed\n`);
  expect(await run("rm", id, "--yes")).toMatchObject({
    code: 0,
    stdout: `Deleted the session ${id.slice(0, 8)} Other.\n`,
  });
  expect((await run("ls")).stdout).toBe("");
});

test("a sandbox that does not start is reported with its step, its reason and its log", async () => {
  bench.provider.onStart = () => {
    throw new SandboxError("The engine has no room left.");
  };
  const ran = await run("new", "-q");
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toMatch(
    /^error: The session [0-9a-f]{8} failed at the step sandbox: .*The engine has no room left\.\n/,
  );
  expect(ran.stderr).toContain("  build | Step 1 of a build\n");
  const id = (await run("ls", "--status", "failed", "--jq", ".[].session_id")).stdout.trim();
  expect((await run("info", id)).stdout).toContain("step\tsandbox\n");
  expect(await run("rm", id, "--yes")).toMatchObject({ code: 0 });
});

test("a session that is deleted while it boots is an error; the account's limit is reported", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.provider.onStart = (_, signal) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  };
  const waiting = run("new", "--json");
  const first = await theOnlyOne();
  for (let taken = 1; taken < CAP; taken++) expect((await run("new", "--no-wait")).code).toBe(0);
  const refused = await run("new", "--json");
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: "concurrent_session_limit", limit: CAP });
  expect(await run("rm", first, "--yes")).toMatchObject({ code: 0 });
  expect(JSON.parse((await waiting).stderr).error).toMatchObject({
    code: "session_deleted",
    session_id: first,
  });
});

/** The id of the only session, once it is there. */
async function theOnlyOne(): Promise<string> {
  let ids: string[] = [];
  await until("the session is begun", async () => {
    ids = (await run("ls", "--jq", ".[].session_id")).stdout.split("\n").filter(Boolean);
    return ids.length > 0;
  });
  return ids[0] ?? "";
}
