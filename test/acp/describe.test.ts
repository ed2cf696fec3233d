import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AcpDescription } from "../../daemon/acp/settings.ts";
import { describeAgent } from "../../daemon/runtime/describe-agent.ts";
import { NotInstalledError } from "../../daemon/runtime/not-installed.ts";
import { readSettings } from "../../daemon/settings.ts";
import type { CustomRuntime } from "../../src/contract/runtimes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-describe-"));
  for (const name of ["codex-acp", "claude-agent-acp", "index.js"]) {
    writeFileSync(join(folder, name), "#!/bin/sh\n");
    chmodSync(join(folder, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GATEWAY = { SVC_LLM_BASE_URL: "http://svc.test/v1/llm/openai/v1", SVC_LLM_API_KEY: "start-key" };
const ids = { SVC_PROJECT_ID: crypto.randomUUID(), SVC_SESSION_ID: crypto.randomUUID() };

/** @param variables of the daemon, which the agent inherits */
async function described(
  runtime: "claude-code" | "codex" | CustomRuntime,
  variables: Record<string, string> = {},
): Promise<AcpDescription> {
  const environment = { PATH: folder, SVC_API_URL: "http://svc.test/v1", ...variables };
  const settings = readSettings(
    {
      ...ids,
      ...environment,
      SVC_BRANCH_NAME: "b",
      SVC_REPO_URL: "http://svc.test/r.git",
      SVC_TOKEN: "a-service-key",
      ...(typeof runtime === "string"
        ? { SVC_RUNTIME_NAME: runtime }
        : { SVC_RUNTIME_NAME: runtime.name, SVC_RUNTIME_DESCRIPTION: JSON.stringify(runtime) }),
      SVC_RUNTIME_HOME: "/opt/home",
    },
    null,
  );
  if (settings.runtime === "opencode") throw new Error("not an agent of the protocol");
  return JSON.parse(await describeAgent(settings, settings.runtime, environment));
}

describe("Claude Code", () => {
  test("gets the gateway in its own format, and its model", async () => {
    const { command, variables, choice, rules } = await described("claude-code", {
      ...GATEWAY,
      SVC_LLM_MODEL: "large",
    });
    expect(command).toEqual([join(folder, "claude-agent-acp")]);
    expect(variables).toMatchObject({
      ANTHROPIC_BASE_URL: "http://svc.test/v1/llm/anthropic",
      ANTHROPIC_API_KEY: "start-key",
      ANTHROPIC_MODEL: "large",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    expect(rules.in).toBe("system-prompt");
    expect(choice).toEqual({
      model: { providerID: "svc", modelID: "large" },
      mode: "bypassPermissions",
      isModeRequired: false,
      allowsEdits: false,
      effort: null,
    });
  });

  test.each(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"])(
    "uses the project's %s instead of the gateway",
    async (name) => {
      const { variables } = await described("claude-code", { ...GATEWAY, [name]: "of the project" });
      expect(Object.keys(variables)).not.toContain("ANTHROPIC_BASE_URL");
      expect(Object.keys(variables)).not.toContain("ANTHROPIC_API_KEY");
    },
  );

  test("is not given a gateway of the operator's, which may not speak its format", async () => {
    const { variables } = await described("claude-code", {
      ...GATEWAY,
      SVC_LLM_BASE_URL: "http://other.test/v1",
    });
    expect(Object.keys(variables)).not.toContain("ANTHROPIC_BASE_URL");
  });

  test("as JavaScript, it is run by svc-agent's own Bun, without passing that on", async () => {
    const { command, variables } = await described("claude-code", {
      SVC_RUNTIME_BIN: join(folder, "index.js"),
    });
    expect(command).toEqual([
      process.execPath,
      "-e",
      `delete process.env.BUN_BE_BUN; await import(${JSON.stringify(join(folder, "index.js"))})`,
    ]);
    expect(variables["BUN_BE_BUN"]).toBe("1");
  });
});

describe("Codex", () => {
  test("gets the gateway, its model and its rules in a file", async () => {
    const { command, variables, choice, rules } = await described("codex", {
      ...GATEWAY,
      SVC_OPENCODE_MODEL: "svc/a/b",
    });
    expect(command[0]).toBe(join(folder, "codex-acp"));
    expect(command).toContain('model="a/b"');
    expect(command).toContain('model_providers.svc.base_url="http://svc.test/v1/llm/openai/v1"');
    expect(command.join(" ")).not.toContain("start-key");
    expect(Object.keys(variables)).not.toContain("BUN_BE_BUN");
    expect([choice.mode, rules.in]).toEqual(["full-access", { file: "/opt/home/.codex/AGENTS.md" }]);
    expect(rules.text).toContain("You work in an svc session");
  });

  test.each(["OPENAI_API_KEY", "CODEX_API_KEY"])(
    "uses the project's %s instead of the gateway",
    async (name) => {
      const { command } = await described("codex", { ...GATEWAY, [name]: "of the project" });
      expect(command.join(" ")).not.toContain("model_provider");
    },
  );
});

test.each([
  ["claude-code", "anthropic/claude-x", { providerID: "anthropic", modelID: "claude-x" }],
  ["claude-code", "svc/of/mine", { providerID: "svc", modelID: "of/mine" }],
  ["claude-code", "openai/of/mine", { providerID: "svc", modelID: "openai/of/mine" }],
  ["claude-code", "/anthropic/x", { providerID: "svc", modelID: "/anthropic/x" }],
  ["claude-code", "anthropic/", { providerID: "svc", modelID: "anthropic/" }],
  ["codex", "openai/gpt", { providerID: "openai", modelID: "gpt" }],
  ["codex", "gpt", { providerID: "svc", modelID: "gpt" }],
] as const)("%s with the model %s", async (name, chosen, model) => {
  expect((await described(name, { SVC_OPENCODE_MODEL: chosen })).choice.model).toEqual(model);
});

test("without a model, the agent's own is used", async () => {
  const { choice, variables } = await described("claude-code", GATEWAY);
  expect([choice.model, variables["ANTHROPIC_MODEL"]]).toEqual([null, undefined]);
});

test("svc's tools come with the session's token", async () => {
  expect((await described("codex")).tools).toBeNull();
  expect((await described("codex", { SVC_EXECUTOR_TOKEN: "t" })).tools).toMatchObject({
    type: "http",
    name: "svc",
    url: expect.stringMatching(/^http:\/\/svc\.test\/v1\/.*mcp/),
    headers: [{ name: "Authorization", value: "Bearer t" }],
  });
});

test("an agent that is not there is an error that says how to install it", async () => {
  const missing = described("codex", { PATH: "/nonexistent" });
  expect(missing).rejects.toBeInstanceOf(NotInstalledError);
  expect(missing).rejects.toThrow(
    /^Codex is not in this sandbox\..*svc-api runtime install codex.*npm install --global @zed-industries\/codex-acp\.$/,
  );
});

test("a program that was installed, and is gone, is the same error", () => {
  const gone = described("codex", { SVC_RUNTIME_BIN: join(folder, "gone") });
  expect(gone).rejects.toBeInstanceOf(NotInstalledError);
});

test("an unknown agent stops the daemon with the names that it knows", async () => {
  const env = {
    ...ids,
    SVC_BRANCH_NAME: "b",
    SVC_REPO_URL: "http://a.test/r",
    SVC_API_URL: "http://a.test",
    SVC_TOKEN: "a-service-key",
  };
  expect(() => readSettings({ ...env, SVC_RUNTIME_NAME: "gemini" }, null)).toThrow(
    'SVC_RUNTIME_NAME must be opencode, claude-code, codex, or have SVC_RUNTIME_DESCRIPTION, not be "gemini".',
  );
});

describe("an agent that the operator describes", () => {
  const custom: CustomRuntime = {
    ...{ name: "own", title: "Own", modelFormat: "openai", folder: null, mode: "yolo" },
    command: ["codex-acp", "--acp"],
    environment: {
      URL: "{openai_url}",
      OTHER_URL: "{anthropic_url}",
      KEY: "{key}",
      MODEL: "svc:{model}",
      BOTH: "{model}@{openai_url}",
      PLAIN: "{unknown}",
    },
    ...{ rulesFile: null, skills: null, records: [], secrets: ["OWN_KEY"] },
  };

  test("gets the gateway and its model where its variables name them", async () => {
    const { command, variables, choice, rules, skills } = await described(custom, {
      ...GATEWAY,
      SVC_OPENCODE_MODEL: "svc/a/b",
    });
    expect(command).toEqual([join(folder, "codex-acp"), "--acp"]);
    expect(variables).toEqual({
      URL: "http://svc.test/v1/llm/openai/v1",
      OTHER_URL: "http://svc.test/v1/llm/anthropic",
      KEY: "start-key",
      MODEL: "svc:a/b",
      BOTH: "a/b@http://svc.test/v1/llm/openai/v1",
      PLAIN: "{unknown}",
    });
    expect([choice.mode, rules.in, skills]).toEqual(["yolo", "first-prompt", null]);
    expect(choice.model).toEqual({ providerID: "svc", modelID: "a/b" });
  });

  test.each([
    ["a secret of the project", { ...GATEWAY, OWN_KEY: "of the project" }, { PLAIN: "{unknown}" }],
    ["no gateway", { SVC_OPENCODE_MODEL: "m" }, { MODEL: "svc:m", PLAIN: "{unknown}" }],
  ])("a variable without a value is not set: %s", async (_, environment, variables) => {
    expect((await described(custom, environment)).variables).toEqual(variables);
  });

  test("reads rules and skills below its home", async () => {
    const { rules, skills } = await described({
      ...custom,
      rulesFile: ".own/RULES.md",
      skills: ".own/skills",
    });
    expect(rules.in).toEqual({ file: "/opt/home/.own/RULES.md" });
    expect(skills?.to).toBe("/opt/home/.own/skills");
  });

  test("that is not in the sandbox is named by its title", async () => {
    const missing = described({ ...custom, command: ["nowhere"] });
    expect(missing).rejects.toThrow("Own is not in this sandbox. The image must contain it");
  });
});
