import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { prepareLogin } from "../../daemon/acp/login.ts";
import { acpSandbox, agentProgramOf, agentTitle, textOf } from "../helpers/acp-sandbox.ts";
import { startAgentUpstream } from "../helpers/agent-upstream.ts";
import { needs } from "../helpers/needs.ts";
import { startSandbox } from "../helpers/sandbox.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-login-"));
  file = join(folder, ".codex/auth.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const content = () => (existsSync(file) ? readFileSync(file, "utf8") : null);
const put = (text: string) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

describe("the file of a login", () => {
  test("is written for its owner alone, again when the login is another one, and removed with it", () => {
    prepareLogin(file, "first");
    expect([content(), statSync(file).mode & 0o777]).toEqual(["first", 0o600]);
    prepareLogin(file, "second");
    expect([content(), statSync(file).mode & 0o777]).toEqual(["second", 0o600]);
    prepareLogin(file, undefined);
    expect(content()).toBeNull();
    prepareLogin(file, "second");
    expect(content()).toBe("second");
  });

  test("keeps what the agent has renewed", () => {
    prepareLogin(file, "first");
    put("renewed");
    prepareLogin(file, "first");
    expect(content()).toBe("renewed");
    rmSync(file);
    prepareLogin(file, "first");
    expect(content()).toBe("first");
    put("renewed");
    prepareLogin(file, "second");
    expect(content()).toBe("second");
  });

  test("that is not svc's is kept without a login", () => {
    put("of the image");
    prepareLogin(file, undefined);
    prepareLogin(file, "");
    expect(content()).toBe("of the image");
  });
});

/** A signed token without a meaning, which expires long after the test. */
const jwt = (claims: object) =>
  [{ alg: "none", typ: "JWT" }, claims, "x"]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
const ACCESS = jwt({ exp: 4_000_000_000, sub: "access" });
const CODEX = JSON.stringify({
  auth_mode: "chatgpt",
  OPENAI_API_KEY: null,
  tokens: {
    id_token: jwt({
      exp: 4_000_000_000,
      email: "a@example.com",
      "https://api.openai.com/auth": { chatgpt_plan_type: "pro", chatgpt_account_id: "account-1" },
    }),
    access_token: ACCESS,
    refresh_token: "refresh-0123456789-0123456789-0123456789",
    account_id: "account-1",
  },
  last_refresh: new Date().toISOString(),
});

describe.each([
  ["claude-code", "CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-the-login", "Bearer sk-ant-oat01-the-login"],
  ["codex", "CODEX_AUTH_JSON", CODEX, `Bearer ${ACCESS}`],
] as const)("the real %s", (name, secret, value, authorization) => {
  const program = agentProgramOf(name);
  const test = needs(agentTitle(name), program !== null);

  test(`answers with the login of ${secret}, and not with svc's gateway`, async () => {
    using upstream = startAgentUpstream(
      "env | cut -c1-60; ls -l $HOME/.codex/auth.json; echo ran-$((40 + 2))",
    );
    using gateway = startAgentUpstream("true");
    mkdirSync(join(folder, ".codex"));
    writeFileSync(
      join(folder, ".codex/config.toml"),
      `openai_base_url = "${upstream.url}/v1"\nchatgpt_base_url = "${upstream.url}/backend-api/"\n`,
    );
    const sandbox = await startSandbox({
      env: {
        SVC_RUNTIME_NAME: name,
        SVC_RUNTIME_BIN: program ?? "",
        SVC_RUNTIME_HOME: folder,
        SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
        SVC_LLM_BASE_URL: `${gateway.url}/v1/llm/openai/v1`,
        SVC_LLM_API_KEY: "the-key-of-this-start",
        SVC_OPENCODE_MODEL: name === "codex" ? "openai/gpt-5-codex" : "anthropic/claude-sonnet-4-5",
        ANTHROPIC_BASE_URL: upstream.url,
        // what else an account has is looked up at its maker's: there is none
        HTTPS_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "127.0.0.1",
        SVC_PROJECT_SECRET_NAMES: secret,
        [secret]: value,
      },
    });
    await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok");
    await using acp = acpSandbox(sandbox, folder);
    expect(await acp.send("Run the command that I told you about.")).toMatchObject({ state: "answered" });
    expect(textOf(await acp.answer())).toContain("ran-42");
    expect([...upstream.credentials]).toEqual([authorization]);
    expect(gateway.paths).toEqual([]);
    if (name === "codex") {
      const said = JSON.stringify(await acp.answer());
      expect(said).toContain("-rw------- ");
      expect(said).not.toContain("CODEX_AUTH_JSON=");
    }
  });
});
