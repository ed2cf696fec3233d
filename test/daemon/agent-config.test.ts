import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Sandbox, type SandboxOptions, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const AGENT = ".svc/agentrt/agents/a.md";

async function booted(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  return sandbox;
}

/** What the runtime finds of the project. */
const laidOut = ({ home }: Sandbox, path = "agents/a.md") =>
  readFileSync(join(home, "agentrt", path), "utf8");

/** Puts a commit with these files alone onto the default branch. */
const merge = ({ repository }: Sandbox, files: Record<string, string>) =>
  repository.write([{ name: "merged", branch: "main", files }]);

const refresh = (sandbox: Sandbox) => sandbox.call("POST", "/svc/refresh", "platform");

/** Has the runtime started again, as a changed secret does. */
async function restart(sandbox: Sandbox): Promise<void> {
  const { runtime_pid } = await sandbox.health();
  const revision = crypto.randomUUID();
  await sandbox.call("POST", "/svc/env", "platform", { revision, env: { REVISION: revision } });
  await sandbox.untilHealth(
    "it is back",
    (health) => health.runtime === "ok" && health.runtime_pid !== runtime_pid,
  );
}

test("applies only merged changes, from the next refresh on, not those of the session's branch or the agent", async () => {
  await using sandbox = await booted({
    files: { [AGENT]: "merged\n", ".svc/agentrt/opencode.json": "{}\n" },
  });
  const { home, workspace } = sandbox;
  expect(laidOut(sandbox)).toBe("merged\n");

  // in the clone; in the folder itself, by leaving files, taking some away and putting a link in the folder's place
  writeFileSync(join(workspace, AGENT), "changed\n");
  writeFileSync(join(home, "agentrt/agents/b.md"), "planted\n");
  rmSync(join(home, "agentrt/opencode.json"));
  await restart(sandbox);
  expect(laidOut(sandbox)).toBe("merged\n");
  expect(readdirSync(join(home, "agentrt/agents"))).toEqual(["a.md"]);
  expect(laidOut(sandbox, "opencode.json")).toBe("{}\n");
  rmSync(join(home, "agentrt"), { recursive: true });
  symlinkSync(workspace, join(home, "agentrt"));
  await restart(sandbox);
  expect(laidOut(sandbox)).toBe("merged\n");
  expect(readFileSync(join(workspace, AGENT), "utf8")).toBe("changed\n");

  // a merge is in force from the next start of the sandbox, or a refresh
  await merge(sandbox, { [AGENT]: "merged later\n" });
  await restart(sandbox);
  expect(laidOut(sandbox)).toBe("merged\n");
  expect((await refresh(sandbox)).status).toBe(200);
  await sandbox.untilHealth("it is back", ({ runtime }) => runtime === "ok");
  expect(laidOut(sandbox)).toBe("merged later\n");
  await merge(sandbox, { "a.txt": "1\n" });
  expect((await refresh(sandbox)).status).toBe(200);
  await sandbox.untilHealth("it is back", ({ runtime }) => runtime === "ok");
  expect(existsSync(join(home, "agentrt/agents"))).toBe(false);
});

test("if svc does not return them, the runtime does not start; health has the reason, and the daemon retries", async () => {
  let answer = Response.json({ error: "svc is still fetching this repository." }, { status: 503 });
  await using sandbox = await startSandbox({
    files: { [AGENT]: "merged\n" },
    api: ({ url }) => (url.endsWith("/agent-config") && answer.status !== 200 ? answer.clone() : null),
  });
  const failed = await sandbox.untilHealth("it is told", ({ error }) => error !== undefined);
  expect(failed).toMatchObject({
    clone: "failed",
    runtime: "starting",
    error: {
      kind: "clone",
      message: "The project's agents could not be fetched: svc is still fetching this repository.",
      permanent: false,
    },
  });
  answer = Response.json({ error: "The folder is too large." }, { status: 413 });
  await sandbox.untilHealth("it is for good", ({ error }) => error?.permanent === true);
  answer = new Response();
  const health = await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect([health.clone, health.error, laidOut(sandbox)]).toEqual(["ok", undefined, "merged\n"]);
});

test("a refresh changes nothing if svc does not return them", async () => {
  let isAway = false;
  await using sandbox = await booted({
    files: { [AGENT]: "merged\n" },
    api: ({ url }) => (isAway && url.endsWith("/agent-config") ? new Response("no", { status: 502 }) : null),
  });
  const before = await sandbox.health();
  await sandbox.repository.write([
    { name: "second", branch: sandbox.sessionId, parents: [before.commit ?? ""], files: { "b.txt": "2\n" } },
  ]);
  isAway = true;
  const refused = await refresh(sandbox);
  expect([refused.status, (await refused.json()).code]).toEqual([502, "repo_unreachable"]);
  const { commit, runtime_pid } = await sandbox.health();
  expect([commit, runtime_pid, laidOut(sandbox)]).toEqual([before.commit, before.runtime_pid, "merged\n"]);
});

test("an invalid archive prevents the runtime's start, and is reported", async () => {
  let isDamaged = true;
  await using sandbox = await startSandbox({
    files: { [AGENT]: "merged\n" },
    api: ({ url }) => (isDamaged && url.endsWith("/agent-config") ? new Response("x".repeat(2048)) : null),
  });
  await until("it is told", async () =>
    ((await sandbox.health()).error?.message ?? "").includes("the project's agents could not be written"),
  );
  isDamaged = false;
  expect((await refresh(sandbox)).status).toBe(200);
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect(laidOut(sandbox)).toBe("merged\n");
});
