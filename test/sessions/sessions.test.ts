import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { projectSessions } from "../../db/schema/index.ts";
import { verifyUserContext } from "../../src/contract/user-context.ts";
import { SandboxError } from "../../src/sandboxes/provider.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { readEvents, type SessionBench, startSessions } from "../helpers/sessions.ts";
import { engineGone } from "../helpers/stand-in-provider.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "1000" } });
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.provider.onStart = () => {};
  bench.provider.onCall = () => {};
  bench.provider.firstHealth = {};
});

const NOBODY = "00000000-0000-4000-8000-000000000000";

describe("a session", () => {
  test("is created as requested, boots step by step, and runs", async () => {
    const made = await bench.create({
      name: "Fix the login",
      agent_name: "build",
      model: "provider/model",
      initial_prompt: "Fix it",
      base_ref: "refs/heads/main",
    });
    expect(made).toMatchObject({
      project_id: bench.projectId,
      branch_name: made.session_id,
      base_ref: "main",
      name: "Fix the login",
      agent_name: "build",
      model: "provider/model",
      status: "provisioning",
      error: null,
      stop_reason: null,
      sandbox_provider: "local",
      sandbox_status: null,
    });
    expect(made.sandbox_url).toEndWith(`/v1/p/${made.session_id}/8000`);
    const running = await bench.becomes(made.session_id, "running");
    expect(running).toMatchObject({ step: null, sandbox_status: "active" });
    expect(bench.remote.sha(made.session_id)).toBe(bench.remote.sha("main"));
    const { lines } = (await bench.call("GET", `/${made.session_id}/logs`)).body;
    expect(lines.map(({ text }: { text: string }) => text)).toEqual([
      `Creating the branch ${made.session_id} from main …`,
      "Checking for the image …",
      "Step 1 of a build",
      "Starting the sandbox …",
      "Cloning the repository …",
      "Starting the agent runtime …",
      "The session is running.",
      "the sandbox's own words",
    ]);
  });

  test("has the environment of spec 2.8, and each secret under its name", async () => {
    await bench.api.call("PUT", `/v1/projects/${bench.projectId}/secrets/API_KEY`, {
      body: { value: "s3cret\n" },
    });
    const { session_id: id } = await bench.create({ model: "a/b", agent_name: "plan", initial_prompt: "do" });
    await bench.becomes(id, "running");
    const { SVC_TOKEN, SVC_CLI_TOKEN, SVC_EXECUTOR_TOKEN, SVC_PROJECT_SECRETS_REVISION, ...rest } =
      bench.provider.sandboxes.get(id)?.environment ?? {};
    expect(rest).toEqual({
      API_KEY: "s3cret\n",
      SVC_PROJECT_ID: bench.projectId,
      SVC_SESSION_ID: id,
      SVC_BRANCH_NAME: id,
      SVC_REPO_URL: `http://api.test/v1/git/${bench.projectId}.git`,
      SVC_DEFAULT_BRANCH: "main",
      SVC_BASE_REF: "main",
      SVC_SERVICE_PORT: "8000",
      SVC_API_URL: "http://api.test/v1",
      SVC_AGENT_NAME: "plan",
      SVC_OPENCODE_MODEL: "a/b",
      SVC_INITIAL_PROMPT: "do",
      SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
      SVC_PROMPT_QUEUE: "1",
      SVC_PROJECT_AUTO_CLONE: "1",
      SVC_PROJECT_SECRET_NAMES: "API_KEY",
    });
    expect(SVC_TOKEN).toMatch(/^svc_sb_[\w-]{43}$/);
    expect(SVC_CLI_TOKEN).toMatch(/^svc_pat_/);
    expect(SVC_EXECUTOR_TOKEN).toBe(SVC_CLI_TOKEN ?? "");
    expect(SVC_PROJECT_SECRETS_REVISION).toMatch(/^[0-9a-f]{16}$/);
    // what it holds opens what it should
    const whoami = await bench.api.call("GET", "/v1/auth/whoami", { token: SVC_CLI_TOKEN ?? "" });
    expect(JSON.stringify(whoami.body)).toContain(id);
    const credential = await bench.api.call("GET", `/v1/projects/${bench.projectId}/git/clone-credential`, {
      token: SVC_TOKEN ?? "",
    });
    expect(credential.status).toBe(200);
  });

  test("has the agent that was chosen, and refuses what that agent does not have", async () => {
    const { session_id: id, runtime } = await bench.create({ runtime: "codex" });
    expect(runtime).toBe("codex");
    await bench.becomes(id, "running");
    expect(bench.provider.sandboxes.get(id)?.environment["SVC_RUNTIME_NAME"]).toBe("codex");
    const { session_id: usual } = await bench.create({});
    await bench.becomes(usual, "running");
    const path = `/v1/projects/${bench.projectId}/sessions`;
    expect((await bench.api.call("GET", `${path}/${usual}`)).body.runtime).toBe("opencode");
    const agent = await bench.api.call("POST", path, { body: { runtime: "codex", agent_name: "build" } });
    expect([agent.status, agent.body]).toMatchObject([
      400,
      { code: "validation_failed", details: [{ path: "agent_name" }] },
    ]);
    const unknown = await bench.api.call("POST", path, { body: { runtime: "gemini" } });
    expect([unknown.status, unknown.body.code]).toEqual([400, "validation_failed"]);
  });

  test("that was stopped has no sandbox, its keys are revoked, and it restarts with new ones", async () => {
    const { session_id: id } = await bench.create({ initial_prompt: "once" });
    await bench.becomes(id, "running");
    const first = bench.provider.sandboxes.get(id)?.environment ?? {};
    const asked = await bench.call("POST", `/${id}/stop`);
    expect(asked.status).toBe(202);
    const stopped = await bench.becomes(id, "stopped");
    expect(stopped).toMatchObject({ stop_reason: "user", sandbox_status: "stopped", error: null });
    expect(bench.provider.sandboxes.has(id)).toBe(false);
    expect(await statusWith(first["SVC_CLI_TOKEN"])).toBe(401);
    const logs = (await bench.call("GET", `/${id}/logs`)).body.lines;
    expect(logs).toContainEqual({
      at: expect.any(String),
      source: "sandbox",
      text: "the sandbox's own words",
    });

    const again = await bench.call("POST", `/${id}/restart`);
    expect(again.status).toBe(202);
    expect(again.body).toMatchObject({ status: "provisioning", stop_reason: null });
    await bench.becomes(id, "running");
    const second = bench.provider.sandboxes.get(id)?.environment ?? {};
    expect(second["SVC_CLI_TOKEN"]).not.toBe(first["SVC_CLI_TOKEN"] ?? "");
    expect(second["SVC_TOKEN"]).not.toBe(first["SVC_TOKEN"] ?? "");
    expect(await statusWith(second["SVC_CLI_TOKEN"])).toBe(200);
    // svc gives it, also in a later sandbox when the first did not come to it
    expect(second).not.toHaveProperty("SVC_INITIAL_PROMPT");
  });

  test("that is running stops its old sandbox before it restarts", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    const old = bench.provider.sandboxes.get(id);
    await bench.call("POST", `/${id}/restart`);
    await until("another sandbox", () => bench.provider.sandboxes.get(id)?.spec.generation === 2);
    await bench.becomes(id, "running");
    expect(bench.provider.stopped).toContain(id);
    expect(await statusWith(old?.environment["SVC_CLI_TOKEN"])).toBe(401);
  });

  test("that is deleted loses its sandbox and its tokens; its branch stays", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    const token = bench.provider.sandboxes.get(id)?.environment["SVC_CLI_TOKEN"];
    expect((await bench.call("DELETE", `/${id}`)).body).toEqual({ ok: true });
    expect((await bench.call("GET", `/${id}`)).status).toBe(404);
    expect(bench.provider.sandboxes.has(id)).toBe(false);
    expect(await statusWith(token)).toBe(401);
    expect(bench.remote.sha(id)).toBe(bench.remote.sha("main"));
  });

  test("can be stopped and deleted while it starts", async () => {
    bench.provider.onStart = (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    const before = bench.provider.starts;
    const [one, two] = [await bench.create(), await bench.create()];
    await until("both start", () => bench.provider.starts === before + 2);
    await bench.call("POST", `/${one.session_id}/stop`);
    expect((await bench.becomes(one.session_id, "stopped")).sandbox_status).toBe("stopped");
    expect((await bench.call("DELETE", `/${two.session_id}`)).status).toBe(200);
    expect(bench.provider.sandboxes.has(one.session_id)).toBe(false);
  });

  test("that hangs while it starts does not block others", async () => {
    bench.provider.onStart = hang;
    const before = bench.provider.starts;
    const { session_id: stuck } = await bench.create();
    await until("it starts", () => bench.provider.starts === before + 1);
    bench.provider.onStart = () => {};
    for (let look = 0; look < 20; look++) await bench.looked();
    const { session_id: other } = await bench.create();
    await bench.becomes(other, "running");
    expect((await bench.get(stuck)).status).toBe("provisioning");
    await bench.call("DELETE", `/${stuck}`);
  });

  test("is renamed", async () => {
    const { session_id: id } = await bench.create();
    expect((await bench.call("PATCH", `/${id}`, { body: { name: "Another" } })).body.name).toBe("Another");
    expect((await bench.call("PATCH", `/${id}`, { body: { name: " " } })).status).toBe(400);
    expect((await bench.call("PATCH", `/${NOBODY}`, { body: { name: "x" } })).status).toBe(404);
  });
});

describe("a failed start reports the step and the reason", () => {
  const cases: [string, () => Record<string, unknown>, string][] = [
    [
      "branch",
      () => ({ base_ref: "nowhere" }),
      'The session\'s branch could not be created: The repository has no branch "nowhere".',
    ],
    ["sandbox", () => fails(engineGone), "The sandbox could not be started: The engine does not answer."],
    [
      "sandbox",
      () =>
        fails(() => {
          throw new Error("postgres://user:password@host/secret");
        }),
      "The sandbox could not be started: internal error; see the server's log.",
    ],
    [
      "clone",
      () =>
        health({
          clone: "failed",
          error: { kind: "clone", message: "The branch is gone.", permanent: true },
        }),
      "The repository could not be cloned in the sandbox: The branch is gone.",
    ],
    [
      "runtime",
      () =>
        health({
          runtime: "failed",
          error: { kind: "runtime", message: "opencode is not installed.", permanent: true },
        }),
      "The agent runtime did not start: opencode is not installed.",
    ],
  ];
  test.each(cases)("%s", async (step, arrange, error) => {
    const { session_id: id } = await bench.create(arrange());
    const failed = await bench.becomes(id, "failed", "running");
    expect(failed).toMatchObject({ status: "failed", step, error });
    expect(bench.provider.sandboxes.has(id)).toBe(false);
    const { lines } = (await bench.call("GET", `/${id}/logs`)).body;
    expect(lines.at(-1)).toMatchObject({ source: "svc", text: error });
    if (step === "clone") expect(lines).toContainEqual(expect.objectContaining({ source: "sandbox" }));
  });

  test("a sandbox that exits while it boots", async () => {
    bench.provider.firstHealth = { clone: "cloning", runtime: "starting" };
    const { session_id: id } = await bench.create();
    await until("it has started", () => bench.provider.sandboxes.has(id));
    bench.provider.sandboxes.get(id)?.die(137, true);
    const failed = await bench.becomes(id, "failed");
    expect(failed.error).toContain("used more memory than its limit");
  });

  function fails(how: () => never): Record<string, unknown> {
    bench.provider.onStart = how;
    return {};
  }
  function health(first: SessionBench["provider"]["firstHealth"]): Record<string, unknown> {
    bench.provider.firstHealth = first;
    return {};
  }
});

describe("changes of sandboxes outside svc are detected", () => {
  test.each([
    [1, false, "exited with code 1"],
    [137, false, "killed by signal 9"],
    [137, true, "more memory than its limit"],
  ])("one that ends with %p (out of memory: %p)", async (code, outOfMemory, words) => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    bench.provider.sandboxes.get(id)?.die(code, outOfMemory);
    bench.look();
    const failed = await bench.becomes(id, "failed");
    expect(failed.error).toContain(words);
    expect(failed.sandbox_status).toBe("error");
    expect(bench.provider.sandboxes.has(id)).toBe(false);
  });

  test("a sandbox without a session is stopped, and no other", async () => {
    const { session_id: kept } = await bench.create();
    await bench.becomes(kept, "running");
    const orphan = crypto.randomUUID();
    const sandbox = bench.provider.sandboxes.get(kept);
    if (sandbox)
      bench.provider.sandboxes.set(orphan, {
        ...sandbox,
        sandbox: { ...sandbox.sandbox, sessionId: orphan },
      });
    bench.look();
    await until("the orphan is ended", () => !bench.provider.sandboxes.has(orphan));
    expect((await bench.get(kept)).status).toBe("running");
  });

  test("a sandbox that is missing from a list, but is found by its id, keeps running", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    let listed = 0;
    const list = bench.provider.list;
    bench.provider.list = async () => {
      listed++;
      return [];
    };
    await until("it was listed twice", () => {
      bench.look();
      return listed >= 2;
    });
    bench.provider.list = list;
    expect((await bench.get(id)).status).toBe("running");
    expect(bench.provider.sandboxes.has(id)).toBe(true);
  });

  test("an engine that hangs for a while fails no session", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    let asked = 0;
    bench.provider.onCall = () => {
      asked++;
      engineGone();
    };
    await until("it was asked three times", () => {
      bench.look();
      return asked >= 3;
    });
    expect((await bench.get(id)).status).toBe("running");
  });
});

describe("secrets", () => {
  test("that are changed are sent to the running sandboxes, signed by the platform", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    const path = `/v1/projects/${bench.projectId}/secrets`;
    await bench.api.call("PUT", `${path}/LATER`, { body: { value: "one" } });
    const standIn = bench.provider.sandboxes.get(id);
    await until("it has the secret", () => (standIn?.envs.length ?? 0) > 0);
    const [sent] = standIn?.envs ?? [];
    expect(sent?.body).toMatchObject({ revision: expect.any(String), env: { LATER: "one" } });
    const key = standIn?.environment["SVC_TOKEN"] ?? "";
    expect(verifyUserContext(key, sent?.context ?? "", id, Date.now() / 1000)?.role).toBe("platform");
    await bench.api.call("DELETE", `${path}/LATER`);
    await until("it has lost the secret", () => standIn?.envs.length === 2);
    expect(standIn?.envs[1]?.body).not.toMatchObject({ env: { LATER: "one" } });
  });
});

describe("events", () => {
  test("report every step from the first to the last, and resume where they were cut", async () => {
    bench.provider.firstHealth = { clone: "cloning", runtime: "starting" };
    const { session_id: id } = await bench.create();
    const path = `/v1/projects/${bench.projectId}/sessions/${id}/events`;
    const first = await readEvents(
      bench.api,
      path,
      (event) => event.type === "session" && event.session.step === "clone",
    );
    expect(first.events[0]?.type).toBe("session");
    const rest = readEvents(bench.api, path, (event) => event.type === "deleted", {
      "Last-Event-ID": first.lastId,
    });
    Object.assign(bench.provider.sandboxes.get(id)?.health ?? {}, { clone: "ok", runtime: "ok" });
    await bench.becomes(id, "running");
    await bench.call("DELETE", `/${id}`);
    const { events } = await rest;
    const lines = [...first.events, ...events].flatMap((event) =>
      event.type === "log" ? event.line.text : [],
    );
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toContain("The session is running.");
    expect(lines).toContain("the sandbox's own words");
    expect(events.at(-1)).toEqual({ type: "deleted", session_id: id });
  });
});

test("an engine that refuses is not reported as a failure of the branch", async () => {
  bench.provider.onStart = () => {
    throw new SandboxError("No Docker engine answers.");
  };
  const { session_id: id } = await bench.create();
  const { error } = await bench.becomes(id, "failed");
  expect(error).toBe("The sandbox could not be started: No Docker engine answers.");
});

describe("an idle session", () => {
  test("is stopped, unless its agent is busy or its daemon has had a request", async () => {
    const [idle, busy, used] = [await bench.create(), await bench.create(), await bench.create()];
    for (const { session_id } of [idle, busy, used]) await bench.becomes(session_id, "running");
    const standIn = bench.provider.sandboxes.get(busy.session_id);
    Object.assign(standIn?.health ?? {}, { busy: true });
    bench.advance(3601);
    Object.assign(bench.provider.sandboxes.get(used.session_id)?.health ?? {}, {
      active_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    bench.look();
    expect(await bench.becomes(idle.session_id, "stopped")).toMatchObject({
      stop_reason: "idle",
      error: null,
    });
    await bench.looked();
    expect((await bench.get(busy.session_id)).status).toBe("running");
    expect((await bench.get(used.session_id)).status).toBe("running");
    // an hour after the run has ended, it is idle too
    Object.assign(standIn?.health ?? {}, { busy: false });
    bench.advance(3601);
    await until("it is stopped", async () => {
      bench.look();
      return (await bench.get(busy.session_id)).status === "stopped";
    });
  });

  test("is not one whose server's clock was set two hours ahead, until it has been idle from then on", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    await bench.looked();
    bench.setClock(7_200);
    await bench.looked();
    await bench.looked();
    expect((await bench.get(id)).status).toBe("running");
    bench.advance(3_601);
    bench.look();
    expect(await bench.becomes(id, "stopped")).toMatchObject({ stop_reason: "idle" });
  });
});

describe("what is refused", () => {
  test.each([
    [{ session_id: "x" }, 400, "validation_failed"],
    [{ base_ref: "-x" }, 400, "invalid_ref"],
    [{ base_ref: "a..b" }, 400, "invalid_ref"],
    [{ initial_prompt: "x".repeat(70_000) }, 400, "validation_failed"],
    [{ initial_prompt: "é".repeat(40_000) }, 400, "validation_failed"],
    [{ name: "a\0b" }, 400, "validation_failed"],
    [{ provider: "kubernetes" }, 400, "validation_failed"],
    [{ provider: "moon" }, 400, "validation_failed"],
  ])("%j", async (body, status, code) => {
    const answer = await bench.call("POST", "", { body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("an id that already exists", async () => {
    const { session_id } = await bench.create();
    const again = await bench.call("POST", "", { body: { session_id } });
    expect([again.status, again.body.code]).toEqual([409, "session_exists"]);
  });

  test("another project's session, an invalid id, another user", async () => {
    const { session_id: id } = await bench.create();
    const other = await bench.api.project(bench.remote.url, { name: "Other" });
    expect((await bench.api.call("GET", `/v1/projects/${other.project_id}/sessions/${id}`)).status).toBe(404);
    expect((await bench.call("GET", "/nothing")).status).toBe(400);
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/restart"],
      ["POST", "/stop"],
      ["DELETE", ""],
      ["GET", "/logs"],
      ["GET", "/events"],
    ] as const) {
      expect((await bench.call(method, `/${NOBODY}${path}`)).status).toBe(404);
      const stranger = await bench.api.mint("stranger@example.com");
      expect((await bench.call(method, `/${id}${path}`, { token: stranger })).status).toBe(403);
      expect((await bench.call(method, `/${id}${path}`, { token: null })).status).toBe(401);
    }
    expect((await bench.get(id)).status).not.toBe("stopped");
  });
});

test("a list is newest update first, by pages, and by status", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push((await bench.create({ name: `n${count}` })).session_id);
  for (const id of ids) await bench.becomes(id, "running");
  await bench.call("PATCH", `/${ids[0]}`, { body: { name: "touched" } });
  const first = (await bench.call("GET", "?limit=2")).body;
  expect(first.sessions[0].session_id).toBe(ids[0]);
  const next = (await bench.call("GET", `?limit=2&cursor=${first.next_cursor}`)).body;
  const seen = [...first.sessions, ...next.sessions].map(({ session_id }) => session_id);
  expect(new Set(seen).size).toBe(4);
  const numbers = async (query: string) =>
    (await bench.call("GET", `?limit=200&${query}`)).body.sessions.map(
      ({ session_id }: { session_id: string }) => ids.indexOf(session_id),
    );
  expect(await numbers("q=TOUCH")).toEqual([0]);
  expect(await numbers(`q=${ids[1]?.slice(0, 13)}`)).toEqual([1]);
  for (const none of ["n0", "%25", "_", "%5C"])
    expect([none, await numbers(`q=${none}`)]).toEqual([none, []]);
  expect(await numbers("q=%20")).toEqual(await numbers(""));
  expect((await bench.call("GET", `?q=${"x".repeat(300)}`)).status).toBe(400);
  const running = (await bench.call("GET", "?status=failed&limit=200")).body.sessions;
  expect(running.every(({ status }: { status: string }) => status === "failed")).toBe(true);
});

/** A start that hangs until it is aborted. */
async function hang(_: unknown, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await Bun.sleep(10);
}

/** The API's response to a token that requests its project. */
async function statusWith(token: string | undefined): Promise<number> {
  return (await bench.api.call("GET", `/v1/projects/${bench.projectId}`, { token: token ?? "" })).status;
}

// the last ones: sessions that were changed while the clock was ahead stay the newest
describe("a session that is idle, or waits", () => {
  test("is stopped when its time is over, also if the clock was set ahead and back meanwhile", async () => {
    const { session_id: id } = await bench.create();
    await bench.becomes(id, "running");
    await bench.looked();
    for (const seconds of [7_200, -7_200, -7_200, 7_200]) {
      bench.setClock(seconds);
      await bench.looked();
      await bench.looked();
      expect([seconds, (await bench.get(id)).status]).toEqual([seconds, "running"]);
    }
    bench.advance(3_601);
    bench.look();
    expect(await bench.becomes(id, "stopped")).toMatchObject({ stop_reason: "idle" });
  });

  needs("a real Postgres", POSTGRES)(
    "that waits for a person is not stopped by a clock that was set two hours ahead",
    async () => {
      const { session_id: id } = await bench.create();
      await bench.becomes(id, "running");
      await bench.looked();
      const database = await openPostgres(bench.api.databaseUrl ?? "", { migrate: false });
      await database.db
        .update(projectSessions)
        .set({ activity: "waiting", activityAt: sql`${projectSessions.lastActiveAt}` })
        .where(eq(projectSessions.sessionId, id));
      bench.setClock(7_200);
      await bench.looked();
      await bench.looked();
      expect(await bench.get(id)).toMatchObject({ status: "running", activity: "waiting" });
      bench.advance(3_001);
      bench.look();
      expect(await bench.becomes(id, "stopped")).toMatchObject({ stop_reason: "waiting" });
      bench.setClock(-7_200);
      await database.close();
    },
  );
});
