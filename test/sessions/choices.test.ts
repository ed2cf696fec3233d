import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentChoice, RuntimeChoices } from "../../src/contract/daemon.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

/** A server with a gateway that has one model of each format, and sandboxes whose agents offer something. */
let bench: SessionBench;
let folder: string;
/** What the agents offer; null: the daemon does not answer. */
let offered: RuntimeChoices | null;
/** The choices that sandboxes were sent. */
const sent: { id: string; choice: AgentChoice }[] = [];

const OFFER: RuntimeChoices = {
  models: [{ id: "anthropic/large", name: "Large", efforts: ["low", "high"] }],
  gateway: true,
  agents: [{ name: "build", description: null }],
  modes: ["ask", "auto-edit", "full"],
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-choices-"));
  const entry = (format: string, model: string) =>
    `[[upstreams]]\nid = "${format}"\nformat = "${format}"\nurl = "http://127.0.0.1:9"\nkey = "secret-key"\n[[upstreams.models]]\nid = "${model}"\n`;
  writeFileSync(
    join(folder, "models.toml"),
    entry("openai", "small") + entry("anthropic", "meta/of-anthropic"),
  );
  bench = await startSessions({
    env: { SVC_MODELS_FILE: join(folder, "models.toml"), SVC_SESSION_CAP: "100" },
  });
  bench.provider.onRequest = async (request, { spec }) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/svc/choice") {
      sent.push({ id: spec.sessionId, choice: JSON.parse(await request.text()) });
      return Response.json({ ok: true });
    }
    if (pathname !== "/svc/choices") return new Response(null, { status: 404 });
    return offered ? Response.json({ ok: true, choices: offered }) : Response.json({}, { status: 503 });
  };
});
beforeEach(() => {
  offered = null;
  sent.length = 0;
  bench.provider.runtimeProblem = () => null;
});
afterAll(async () => {
  await bench?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function running(body: Record<string, unknown> = {}): Promise<string> {
  const { session_id } = await bench.create(body);
  await bench.becomes(session_id, "running");
  return session_id;
}

const edit = (id: string, body: object, token = bench.api.token) =>
  bench.call("PATCH", `/${id}`, { body, token });
const refusal = async (answer: ReturnType<typeof edit>) => {
  const { status, body } = await answer;
  return [status, body.code, body.error];
};

describe("a new session", () => {
  test("has the mode full and no effort, unless others are chosen", async () => {
    expect(await bench.create()).toMatchObject({ mode: "full", effort: null });
    const made = await bench.create({ model: "small", mode: "ask", effort: "high" });
    expect(made).toMatchObject({ model: "small", mode: "ask", effort: "high" });
    await bench.becomes(made.session_id, "running");
    expect(bench.provider.sandboxes.get(made.session_id)?.environment).toMatchObject({
      SVC_OPENCODE_MODEL: "small",
      SVC_PERMISSION_MODE: "ask",
      SVC_REASONING_EFFORT: "high",
    });
  });

  test.each([
    ["a model that the gateway does not have", { model: "svc/large" }, "Available: svc/small"],
    ["the same without a provider", { model: "large" }, "Available: svc/small"],
    [
      "a model that the gateway has in another format",
      { model: "svc/small", runtime: "claude-code" },
      'Claude Code has no model "svc/small" here. Available: svc/meta/of-anthropic.',
    ],
    ["an unknown mode", { mode: "reckless" }, "mode must be one of ask, auto-edit, full"],
    [
      "an effort that the model does not have",
      { model: "small", effort: "extreme" },
      "Available: low, medium, high.",
    ],
    ["an effort that is no word", { effort: "very high" }, "effort"],
    ["an unknown agent", { agent_name: "nobody" }, "Available: "],
  ])("is refused at once with %s", async (_, body, words) => {
    const { status, body: answer } = await bench.call("POST", "", { body });
    expect([status, answer.code]).toEqual([400, "validation_failed"]);
    expect(answer.error).toContain(words);
  });

  test("may have a model of a provider that no agent of the project has named yet", async () => {
    expect(await bench.create({ model: "own/of-opencode-json" })).toMatchObject({
      model: "own/of-opencode-json",
    });
  });

  test("has a model of the gateway with a slash in its name by its whole name", async () => {
    const { model } = await bench.create({ model: "meta/of-anthropic", runtime: "claude-code" });
    expect(model).toBe("svc/meta/of-anthropic");
  });

  test("is refused at once if the server does not have its agent", async () => {
    bench.provider.runtimeProblem = (name) => (name === "codex" ? "Codex is not installed." : null);
    const { status, body } = await bench.call("POST", "", { body: { runtime: "codex" } });
    expect([status, body.code, body.error]).toEqual([
      409,
      "runtime_not_installed",
      "Codex is not installed.",
    ]);
    expect((await bench.call("POST", "", { body: { runtime: "claude-code" } })).status).toBe(201);
  });
});

describe("a session that runs", () => {
  test("lists what its agent names, and the gateway's models", async () => {
    offered = OFFER;
    const id = await running({ model: "small" });
    const { status, body } = await bench.call("GET", `/${id}/choices`);
    expect(status).toBe(200);
    expect(body).toEqual({
      runtime: "opencode",
      source: "agent",
      current: { model: "small", agent_name: null, mode: "full", effort: null },
      models: [
        { id: "svc/small", name: "small", efforts: ["low", "medium", "high"] },
        { id: "anthropic/large", name: "Large", efforts: ["low", "high"] },
      ],
      other_models: false,
      agents: [{ name: "build", description: null }],
      modes: ["ask", "auto-edit", "full"],
    });
  });

  test("is changed, and its sandbox and its next prompt get the choice", async () => {
    offered = OFFER;
    const id = await running();
    const choice = { model: "anthropic/large", agent_name: "plan", mode: "ask", effort: "high" };
    const { status, body } = await edit(id, choice);
    expect([status, body]).toMatchObject([200, choice]);
    const expected: AgentChoice = {
      ...{ model: "anthropic/large", agent: "plan" },
      ...{ mode: "ask", effort: "high" },
    };
    await until("it is sent", () => sent.some((each) => each.id === id && each.choice.mode === "ask"));
    expect(sent.findLast((each) => each.id === id)?.choice).toEqual(expected);
    await bench.call("POST", `/${id}/prompt`, { body: { text: "Go on" } });
    const { prompts } = bench.provider.sandboxes.get(id) ?? { prompts: [] };
    await until("it is delivered", () => prompts.length > 0);
    expect(prompts[0]).toMatchObject({ text: "Go on", choice: expected });
    // a restart keeps it
    await bench.call("POST", `/${id}/restart`);
    await until("it starts again", () => bench.provider.sandboxes.get(id)?.spec.generation === 2);
    expect(bench.provider.sandboxes.get(id)?.environment).toMatchObject({
      SVC_OPENCODE_MODEL: "anthropic/large",
      SVC_AGENT_NAME: "plan",
      SVC_PERMISSION_MODE: "ask",
      SVC_REASONING_EFFORT: "high",
    });
  });

  test("undoes an agent and an effort with null, and a model that has no such effort undoes it, too", async () => {
    offered = { ...OFFER, models: [...OFFER.models, { id: "anthropic/plain", name: "Plain", efforts: [] }] };
    const id = await running();
    await edit(id, { model: "anthropic/large", agent_name: "plan", effort: "high" });
    expect((await edit(id, { agent_name: null })).body).toMatchObject({ agent_name: null, effort: "high" });
    expect((await edit(id, { model: "svc/small" })).body).toMatchObject({ effort: "high" });
    expect((await edit(id, { model: "anthropic/plain" })).body).toMatchObject({ effort: null });
    expect(await refusal(edit(id, { effort: "low" }))).toEqual([
      400,
      "validation_failed",
      'The model anthropic/plain has no reasoning effort "low". It has none to choose from.',
    ]);
  });

  test("refuses what it does not have, or nothing, and stays as it was", async () => {
    offered = OFFER;
    const id = await running();
    for (const [body, words] of [
      [{ model: "anthropic/other" }, "Available: anthropic/large."],
      [{ model: "openai/gpt" }, "Available: svc/small, anthropic/large."],
      [{ model: "anthropic/large", effort: "medium" }, "Available: low, high."],
      [{ agent_name: "nobody" }, "Available: "],
      [{}, "body"],
    ] as const) {
      const refused = await refusal(edit(id, body));
      expect([body, ...refused]).toEqual([body, 400, "validation_failed", expect.stringContaining(words)]);
      const unchanged = { model: null, agent_name: null, mode: "full", effort: null };
      expect(await bench.get(id)).toMatchObject(unchanged);
    }
  });

  test("refuses a mode that its agent does not have", async () => {
    offered = { ...OFFER, modes: ["full"] };
    const [status, , error] = await refusal(edit(await running(), { mode: "ask" }));
    expect([status, error]).toEqual([400, 'opencode has no mode "ask" here. Available: full.']);
  });
});

test("an agent changes its model, but not what it may do without asking, nor what its sessions may", async () => {
  offered = OFFER;
  const id = await running();
  await edit(id, { mode: "auto-edit" });
  const token = bench.provider.sandboxes.get(id)?.environment["SVC_CLI_TOKEN"] ?? "";
  expect((await edit(id, { model: "svc/small" }, token)).body).toMatchObject({ model: "svc/small" });
  const refused = await edit(id, { mode: "full" }, token);
  expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
  const child = (body: object) => bench.call("POST", "", { body, token });
  expect((await child({ mode: "full" })).status).toBe(403);
  expect((await child({})).body.mode).toBe("auto-edit");
  expect((await child({ mode: "ask" })).body.mode).toBe("ask");
});

test("a stopped session has what the same agent has named before, which a new session is checked with", async () => {
  const named: RuntimeChoices = { ...OFFER, gateway: false, modes: ["ask", "full"], agents: [] };
  const id = (await bench.create({ runtime: "codex" })).session_id;
  await bench.becomes(id, "running");
  const before = (await bench.call("GET", `/${id}/choices`)).body;
  expect(before).toMatchObject({ source: "svc", modes: ["ask", "auto-edit", "full"], other_models: false });
  offered = named;
  expect((await bench.call("GET", `/${id}/choices`)).body.source).toBe("agent");
  await bench.call("POST", `/${id}/stop`);
  await bench.becomes(id, "stopped");
  const { body } = await bench.call("GET", `/${id}/choices`);
  expect(body).toMatchObject({
    ...{ runtime: "codex", source: "earlier", modes: ["ask", "full"], models: named.models },
    // its maker may have others
    other_models: true,
  });
  const [status, , error] = await refusal(
    bench.call("POST", "", { body: { runtime: "codex", mode: "auto-edit" } }),
  );
  expect([status, error]).toEqual([400, 'Codex has no mode "auto-edit" here. Available: ask, full.']);
});

test("what an agent offers is noted when it starts", async () => {
  offered = { ...OFFER, modes: ["full"] };
  await running();
  await until("it is noted", async () => {
    offered = null;
    const { status } = await bench.call("POST", "", { body: { mode: "ask" } });
    offered = { ...OFFER, modes: ["full"] };
    return status === 400;
  });
});

test("what an agent offers with a person's own key is not noted for others, nor are others' noted for it", async () => {
  const key = "/v1/accounts/secrets/CLAUDE_CODE_OAUTH_TOKEN";
  const hold = async () => {
    await bench.api.call("PUT", key, { body: { value: "login" } });
    await bench.api.call("PUT", `${key}/projects/${bench.projectId}`);
  };
  const choices = async (id: string) => (await bench.call("GET", `/${id}/choices`)).body;
  const offering = (id: string) => ({ ...OFFER, gateway: false, models: [{ id, name: id, efforts: [] }] });
  /** A session whose agent has offered a model, and that has stopped. */
  const stopped = async (model: string) => {
    offered = offering(model);
    const id = await running({ runtime: "claude-code" });
    await until("its choice is sent", () => sent.some((each) => each.id === id));
    expect(await choices(id)).toMatchObject({ source: "agent", models: [{ id: model }] });
    await bench.call("POST", `/${id}/stop`);
    await bench.becomes(id, "stopped");
    return id;
  };
  const shared = await stopped("anthropic/of-the-project");
  expect(await choices(shared)).toMatchObject({
    source: "earlier",
    models: [{ id: "anthropic/of-the-project" }],
  });
  await hold();
  // with the login, the agent's maker decides which models there are
  const unknown = { source: "svc", models: [], other_models: true };
  expect(await choices(shared)).toMatchObject(unknown);
  const own = await stopped("anthropic/of-the-person");
  expect(await choices(own)).toMatchObject(unknown);
  await bench.api.call("DELETE", key);
  expect(await choices(own)).toMatchObject({
    source: "earlier",
    models: [{ id: "anthropic/of-the-project" }],
  });
});

test("texts of a sandbox are bounded, and others are left out", async () => {
  const id = await running();
  const long = "x".repeat(10_000);
  offered = JSON.parse(
    JSON.stringify({
      models: [{ id: `a/${long}`, name: long, efforts: ["ok", "not ok", 3, long] }, "no", null],
      gateway: "yes",
      agents: "none",
      modes: ["full", "reckless"],
    }),
  );
  const { body } = await bench.call("GET", `/${id}/choices`);
  expect(body.models[0]).toEqual({
    id: `a/${long}`.slice(0, 500),
    name: long.slice(0, 500),
    efforts: ["ok"],
  });
  expect(body).toMatchObject({ modes: ["full"], agents: [] });
});

test("the runtimes of a project say what is installed, and which key is missing", async () => {
  const other = await bench.api.project(bench.remote.url);
  bench.provider.runtimeProblem = (name) => (name === "codex" ? "Codex is not installed." : null);
  const read = async () =>
    (await bench.api.call("GET", `/v1/projects/${other.project_id}/runtimes`)).body.runtimes;
  const entry = { installed: true, problem: null, missing_keys: [] };
  expect(await read()).toEqual([
    { ...entry, name: "opencode", title: "opencode" },
    { ...entry, name: "claude-code", title: "Claude Code" },
    { ...entry, name: "codex", title: "Codex", installed: false, problem: "Codex is not installed." },
  ]);
  const bare = await startSessions();
  try {
    for (const model of ["large", "svc/large"]) {
      const { status, body } = await bare.call("POST", "", { body: { model } });
      expect([status, body.error]).toEqual([400, expect.stringContaining("svc knows no models: ")]);
    }
    expect((await bare.call("POST", "", { body: { model: "large", runtime: "codex" } })).status).toBe(201);
    const path = `/v1/projects/${bare.projectId}`;
    const keys = async () =>
      (await bare.api.call("GET", `${path}/runtimes`)).body.runtimes.map(
        ({ missing_keys }: { missing_keys: string[] }) => missing_keys.length,
      );
    expect(await keys()).toEqual([0, 3, 3]);
    await bare.api.call("PUT", `${path}/secrets/CODEX_API_KEY`, { body: { value: "key" } });
    expect(await keys()).toEqual([0, 3, 0]);
  } finally {
    await bare.stop();
  }
});
