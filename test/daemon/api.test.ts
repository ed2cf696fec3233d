import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { refsOf, runClient, scratch, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { startSandbox } from "../helpers/sandbox.ts";

const test = needs("a real Postgres", POSTGRES);

test("with svc's API and gateway: the daemon clones with its key, the agent pushes with its token", async () => {
  const bench = await startGateway();
  try {
    const session = await bench.session(bench.hosted);
    using folder = scratch();
    const git = (...args: string[]) => runClient(folder.path, ...args);
    await git("init", "-q", "-b", "main");
    writeFileSync(join(folder.path, "a.txt"), "1\n");
    await git("add", ".");
    await git("commit", "-qm", "first");
    const url = bench.url(bench.hosted, bench.api.token);
    const pushed = await git("push", "-q", url, "HEAD:refs/heads/main", `HEAD:refs/heads/${session.id}`);
    expect(pushed).toMatchObject({ code: 0 });

    await using sandbox = await startSandbox({
      env: {
        SVC_PROJECT_ID: bench.hosted.project.project_id,
        SVC_SESSION_ID: session.id,
        SVC_BRANCH_NAME: session.branch,
        SVC_REPO_URL: bench.url(bench.hosted, null),
        SVC_API_URL: `${bench.api.url}/v1`,
        SVC_TOKEN: session.serviceKey,
        SVC_CLI_TOKEN: session.token,
      },
    });
    await sandbox.untilHealth("it is cloned", ({ clone }) => clone === "ok");
    writeFileSync(join(sandbox.workspace, "b.txt"), "2\n");
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: sandbox.home,
      SVC_PROJECT_ID: bench.hosted.project.project_id,
      SVC_REPO_URL: bench.url(bench.hosted, null),
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_EXECUTOR_TOKEN: session.token,
    };
    const agent = async (...args: string[]) => {
      const child = Bun.spawn(["git", ...args], {
        cwd: sandbox.workspace,
        env: { ...environment, GIT_TERMINAL_PROMPT: "0" },
        stderr: "pipe",
      });
      return { code: await child.exited, err: await new Response(child.stderr).text() };
    };
    await agent("add", ".");
    await agent("commit", "-qm", "second");
    expect(await agent("push", "-q", "origin", "HEAD")).toEqual({ code: 0, err: "" });
    const { out: head } = await runClient(sandbox.workspace, "rev-parse", "HEAD");
    expect((await refsOf(bench.hosted.directory))[`refs/heads/${session.id}`]).toBe(head.trim());
    expect((await agent("push", "-q", "origin", "HEAD:main")).err).toContain(
      "can be changed only by a change request",
    );
    await bench.end(session.id);
    expect((await agent("fetch", "-q", "origin")).code).not.toBe(0);
  } finally {
    await bench.stop();
  }
});
