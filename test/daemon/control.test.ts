import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentChoice } from "../../src/contract/daemon.ts";
import type { PermissionMode } from "../../src/contract/runtimes.ts";
import { runClient } from "../helpers/gateway.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

async function booted(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  return sandbox;
}

const ask = async (sandbox: Sandbox, path: string, body?: unknown) => {
  const answer = await sandbox.call("POST", path, "platform", body);
  return { status: answer.status, body: await answer.json() };
};
const standin = async (sandbox: Sandbox) => (await sandbox.call("GET", "/standin")).json();
const prompt = (sandbox: Sandbox) =>
  sandbox.call("POST", "/session/ses_1/prompt_async", "user", { parts: [{ type: "text", text: "go" }] });
/** A sandbox for the tests of a group, one after the other. */
function sharedBy(options: SandboxOptions = {}): () => Sandbox {
  let sandbox: Sandbox | null = null;
  beforeAll(async () => {
    sandbox = await booted(options);
  });
  afterAll(() => sandbox?.[Symbol.asyncDispose]());
  return () => {
    if (sandbox === null) throw new Error("the sandbox has not started");
    return sandbox;
  };
}
const aborts = (sandbox: Sandbox) => sandbox.notes().filter((note) => note.startsWith("abort")).length;

describe("abort", () => {
  const shared = sharedBy({ behaviour: { runMs: 60_000, aborts: 4 } });

  test("does nothing without a run", async () => {
    expect(await ask(shared(), "/svc/abort")).toMatchObject({
      status: 409,
      body: { code: "nothing_to_abort" },
    });
  });

  test("is repeated until the run is over; the session is busy until then", async () => {
    const sandbox = shared();
    const { active_at: before } = await sandbox.health();
    await Bun.sleep(20);
    await prompt(sandbox);
    const { active_at } = await sandbox.untilHealth("it is busy", ({ busy }) => busy);
    expect(Date.parse(active_at)).toBeGreaterThan(Date.parse(before));
    expect(await ask(sandbox, "/svc/abort")).toEqual({ status: 200, body: { ok: true } });
    expect(aborts(sandbox)).toBe(4);
    await sandbox.untilHealth("it is idle", ({ busy }) => !busy);
  });

  test("aborts a run that is not visible yet once it is", async () => {
    const sandbox = shared();
    sandbox.behave({ runMs: 60_000, coldMs: 700 });
    await prompt(sandbox);
    expect(await ask(sandbox, "/svc/abort")).toMatchObject({ status: 200 });
    await Bun.sleep(300);
    expect((await sandbox.health()).busy).toBe(false);
  });
});

describe("refresh", () => {
  const shared = sharedBy();

  test("fetches the branch's new commits, and restarts the runtime", async () => {
    const sandbox = shared();
    const { commit: before, runtime_pid } = await sandbox.health();
    const { second } = await sandbox.repository.write([
      {
        name: "second",
        branch: sandbox.sessionId,
        parents: [before ?? ""],
        files: { "a.txt": "1\n", "b.txt": "2\n" },
      },
    ]);
    expect(await ask(sandbox, "/svc/refresh")).toEqual({
      status: 200,
      body: { ok: true, repo: { before, after: second } },
    });
    expect(readFileSync(join(sandbox.workspace, "b.txt"), "utf8")).toBe("2\n");
    const health = await sandbox.untilHealth(
      "it works again, with the new commit",
      ({ runtime, commit }) => runtime === "ok" && commit === second,
    );
    expect(health.runtime_pid).not.toBe(runtime_pid);
    expect(await ask(sandbox, "/svc/refresh")).toMatchObject({
      body: { repo: { before: second, after: second } },
    });
  });

  test("changes nothing if it is not a fast-forward", async () => {
    await using sandbox = await booted();
    const { workspace, sessionId, repository } = sandbox;
    const { commit, runtime_pid } = await sandbox.health();
    const refused = { status: 409, body: { code: "not_fast_forward" } };
    await repository.write([
      { name: "next", branch: sessionId, parents: [commit ?? ""], files: { "a.txt": "theirs\n" } },
    ]);
    appendFileSync(join(workspace, "a.txt"), "unsaved\n");
    expect(await ask(sandbox, "/svc/refresh")).toMatchObject(refused);
    await runClient(workspace, "commit", "-qam", "mine");
    expect(await ask(sandbox, "/svc/refresh")).toMatchObject(refused);
    await runClient(workspace, "switch", "-qc", "elsewhere");
    expect(await ask(sandbox, "/svc/refresh")).toMatchObject(refused);
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("1\nunsaved\n");
    expect((await sandbox.health()).runtime_pid).toBe(runtime_pid);
  });

  test("reports an unreachable repository, and runs one at a time", async () => {
    const sandbox = shared();
    sandbox.api.answer = () => Response.json({}, { status: 500 });
    expect(await ask(sandbox, "/svc/refresh")).toMatchObject({
      status: 502,
      body: { code: "repo_unreachable" },
    });
    const held = Promise.withResolvers<null>();
    const asked = Promise.withResolvers<void>();
    sandbox.api.answer = () => {
      asked.resolve();
      return held.promise;
    };
    const first = ask(sandbox, "/svc/refresh");
    await asked.promise;
    expect((await ask(sandbox, "/svc/refresh")).status).toBe(409);
    held.resolve(null);
    expect((await first).status).toBe(200);
  });

  test("git settings of the agent do not expose the service key", async () => {
    const sandbox = shared();
    sandbox.api.answer = () => null;
    const { workspace, folder } = sandbox;
    const script = join(folder, "evil");
    writeFileSync(script, `#!/bin/sh\nenv >>${folder}/seen\n`, { mode: 0o755 });
    for (const [key, value] of [
      ["core.fsmonitor", script],
      ["core.hooksPath", folder],
      ["remote.origin.url", `ext::${script}`],
      ["credential.helper", `!${script}`],
      ["core.sshCommand", script],
    ] as const)
      await runClient(workspace, "config", key, value);
    symlinkSync(script, join(folder, "post-merge"));
    unlinkSync(join(workspace, "a.txt"));
    symlinkSync("/dev/zero", join(workspace, "svc.toml"));
    expect((await ask(sandbox, "/svc/refresh")).status).toBe(200);
    await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
    const seen = existsSync(join(folder, "seen")) ? readFileSync(join(folder, "seen"), "utf8") : "";
    expect(seen).not.toContain("SVC_TOKEN");
  });
});

describe("env", () => {
  const secrets = { SVC_PROJECT_SECRET_NAMES: "KEPT,GONE", KEPT: "1", GONE: "2" };
  const shared = sharedBy({ env: { ...secrets, SVC_INITIAL_PROMPT: "x" } });

  test.each<[unknown, string]>([
    [{ revision: "r", env: { SVC_TOKEN: "x" } }, "reserved_name"],
    [{ revision: "r", env: { LD_PRELOAD: "x" } }, "reserved_name"],
    [{ revision: "r", env: { "a b": "x" } }, "validation_failed"],
    [{ revision: "r", env: { A: 1 } }, "validation_failed"],
    [{ revision: "r", env: { A: "\0" } }, "validation_failed"],
    [{ revision: 1, env: {} }, "validation_failed"],
    [{ revision: "r", env: [] }, "validation_failed"],
    [{ revision: "r" }, "validation_failed"],
    [[], "validation_failed"],
    ["text", "invalid_json"],
  ])("rejects %j as a whole", async (body, code) => {
    const sandbox = shared();
    expect(await ask(sandbox, "/svc/env", body)).toMatchObject({ status: 400, body: { code } });
    expect((await standin(sandbox)).env).toMatchObject({ KEPT: "1", GONE: "2" });
  });

  test("the first prompt is not sent unless it is enabled", async () => {
    await Bun.sleep(200);
    expect((await standin(shared())).prompts).toEqual([]);
  });

  test("changed secrets restart the runtime; unchanged ones do not", async () => {
    const sandbox = shared();
    const { runtime_pid } = await sandbox.health();
    expect(await ask(sandbox, "/svc/env", { revision: "r1", env: { KEPT: "1", GONE: "2" } })).toEqual({
      status: 200,
      body: { ok: true, changed: false, revision: "r1" },
    });
    expect((await sandbox.health()).runtime_pid).toBe(runtime_pid);
    expect(await ask(sandbox, "/svc/env", { revision: "r2", env: { KEPT: "3", NEW: "'$x\n" } })).toEqual({
      status: 200,
      body: { ok: true, changed: true, revision: "r2" },
    });
    await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
    const { env } = await standin(sandbox);
    expect(env).toMatchObject({
      KEPT: "3",
      NEW: "'$x\n",
      SVC_PROJECT_SECRET_NAMES: "KEPT,NEW",
      SVC_PROJECT_SECRETS_REVISION: "r2",
    });
    expect(env).not.toHaveProperty("GONE");
  });
});

describe("choice", () => {
  const shared = sharedBy({
    env: { SVC_LLM_BASE_URL: "http://127.0.0.1:1/v1", SVC_LLM_API_KEY: "k", SVC_OPENCODE_MODEL: "svc/one" },
  });
  const START: AgentChoice = { model: "svc/one", agent: null, mode: "full", effort: null };

  test("starts opencode again only for another mode, or another of the gateway's models or efforts", async () => {
    const sandbox = shared();
    const other = { mode: "ask", model: "svc/other" } as const;
    const steps: [Partial<AgentChoice>, boolean][] = [
      [{}, false],
      [{ agent: "plan" }, false],
      [{ mode: "ask" }, true],
      [other, true],
      [{ ...other, effort: "high" }, true],
      [{ mode: "ask", model: "own/mine", effort: "low" }, false],
      [{ mode: "ask", model: "own/mine" }, false],
      [other, true],
    ];
    for (const [change, isRestarted] of steps) {
      const { runtime_pid } = await sandbox.health();
      expect(await ask(sandbox, "/svc/choice", { ...START, ...change })).toMatchObject({ status: 200 });
      const after = await sandbox.health();
      const seen = [change, after.runtime, after.runtime_pid !== runtime_pid];
      expect(seen).toEqual([change, "ok", isRestarted]);
    }
  });

  test.each<[PermissionMode, string, string]>([
    ["auto-edit", "ask", "allow"],
    ["ask", "ask", "ask"],
    ["full", "allow", "allow"],
  ])("in the mode %s, opencode may run by %s and edit by %s, and read", async (mode, runs, edits) => {
    const sandbox = shared();
    expect(await ask(sandbox, "/svc/choice", { ...START, mode })).toMatchObject({ status: 200 });
    const { env } = await standin(sandbox);
    const { permission } = JSON.parse(env.OPENCODE_CONFIG_CONTENT);
    expect(JSON.parse(env.OPENCODE_PERMISSION)).toEqual(permission);
    const rule = (tool: string) => permission[tool] ?? permission["*"];
    expect(["bash", "edit", "read", "grep"].map(rule)).toEqual([runs, edits, "allow", "allow"]);
  });
});

describe("the first prompt", () => {
  const env = { SVC_BOOTSTRAP_OPENCODE_SESSION: "1", SVC_INITIAL_PROMPT: "Do it\n'now'" };

  test("is sent once, with agent and model", async () => {
    await using sandbox = await booted({
      env: { ...env, SVC_AGENT_NAME: "coder", SVC_OPENCODE_MODEL: "some/model/x" },
      behaviour: { agents: ["build", "coder"] },
    });
    await until("it is sent", () => sandbox.log().includes("sent the first prompt"));
    expect((await standin(sandbox)).prompts).toEqual([
      {
        messageID: expect.stringMatching(/^msg_/),
        parts: [{ id: expect.stringMatching(/^prt_/), type: "text", text: "Do it\n'now'" }],
        agent: "coder",
        model: { providerID: "some", modelID: "model/x" },
      },
    ]);
    await ask(sandbox, "/svc/env", { revision: "r", env: { A: "1" } });
    await sandbox.untilHealth("it works again", ({ runtime }) => runtime === "ok");
    await Bun.sleep(200);
    expect((await standin(sandbox)).prompts).toEqual([]);
  });

  test("an unknown agent is reported, and the sandbox still works", async () => {
    await using sandbox = await booted({ env: { ...env, SVC_AGENT_NAME: "nobody" } });
    const { error, runtime } = await sandbox.untilHealth("it is told", ({ error }) => error !== undefined);
    expect([runtime, error?.permanent]).toEqual(["ok", true]);
    expect(error?.message).toContain('no agent "nobody"');
  });

  test("is not sent if svc queues all prompts; the conversation is open", async () => {
    await using sandbox = await booted({ env: { ...env, SVC_PROMPT_QUEUE: "1" } });
    await sandbox.untilHealth("it is told", ({ conversation }) => conversation !== null);
    await Bun.sleep(200);
    expect((await standin(sandbox)).prompts).toEqual([]);
  });
});
