/**
 * Run in a network namespace of its own, with the name of an agent: starts a server with the model gateway and a scripted
 * upstream, runs the agent with a prompt on a session's key, and prints what became of it as JSON, in one line.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import type { Usage } from "../../src/contract/usage.ts";
import { AGENT_PROGRAMS } from "./agent-programs.ts";
import { startAgentUpstream } from "./agent-upstream.ts";
import { openDark, sentIntoDark } from "./dark-network.ts";
import { UPSTREAM_KEY } from "./model-bench.ts";
import { RUNTIME_PLUGINS } from "./runtime.ts";
import { startSessions } from "./sessions.ts";

/** Its output. */
export interface ProgramReport {
  code: number;
  out: string;
  err: string;
  /** What the gateway has measured, and the upstream has counted. */
  total: Usage["total"];
  counted: { input: number; output: number };
  paths: string[];
  credentials: string[];
  /** Sent elsewhere than to loopback. */
  packets: number;
}

type Name = keyof typeof AGENT_PROGRAMS;

/** How an agent is started: with a prompt, without asking for permission. */
interface Start {
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

const PROMPT = "Run the command that I told you about.";
const CODEX_CONFIG = (url: string) => `
model = "scripted"
model_provider = "svc"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
[features]
plugins = false
apps = false
[model_providers.svc]
name = "svc"
base_url = "${url}/openai/v1"
env_key = "SVC_LLM_API_KEY"
wire_api = "responses"
`;

openDark();
const name = nameOf(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "svc-program-"));
const [home, work] = [join(folder, "home"), join(folder, "work")];
for (const made of [join(home, ".codex"), work]) mkdirSync(made, { recursive: true });
using upstream = startAgentUpstream("echo ran-$((40 + 2))");
const file = join(folder, "models.toml");
const entry = (format: string, path: string) =>
  `[[upstreams]]\nid = "${format}"\nformat = "${format}"\nurl = "${upstream.url}${path}"\nkey = "${UPSTREAM_KEY}"\n`;
writeFileSync(file, entry("openai", "/v1") + entry("anthropic", ""));
const sessions = await startSessions({ env: { SVC_MODELS_FILE: file } });
const { api } = sessions;
const { session_id: id } = await sessions.create();
await sessions.becomes(id, "running");
const key = sessions.provider.sandboxes.get(id)?.environment["SVC_LLM_API_KEY"] ?? "";
const { args, env } = startOf(name, `${api.url}/v1/llm`);
const child = Bun.spawn([AGENT_PROGRAMS[name].path ?? "/nonexistent", ...args], {
  cwd: work,
  env: { PATH: process.env["PATH"] ?? "", HOME: home, SVC_LLM_API_KEY: key, ...env },
  stdio: ["ignore", "pipe", "pipe"],
  timeout: WAIT_LIMIT_MS / 2,
  killSignal: "SIGKILL",
});
const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
const code = await child.exited;
const account: string = (await api.call("GET", "/v1/accounts/me")).body.accounts[0].account_id;
const { total } = (await api.call("GET", `/v1/accounts/${account}/usage`)).body;
const { counted, paths, credentials } = upstream;
await sessions.stop();
rmSync(folder, { recursive: true, force: true });
const report: ProgramReport = {
  ...{ code, out, err, total, counted, paths },
  credentials: [...credentials],
  packets: sentIntoDark(),
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);

function nameOf(word: string | undefined): Name {
  if (word === "claude" || word === "codex" || word === "opencode") return word;
  throw new Error("the name of an agent is required");
}

function startOf(agent: Name, url: string): Start {
  if (agent === "claude")
    return {
      args: ["--print", "--dangerously-skip-permissions", "--model", "scripted", PROMPT],
      env: {
        ANTHROPIC_BASE_URL: `${url}/anthropic`,
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: "scripted",
        IS_SANDBOX: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
      },
    };
  if (agent === "codex") {
    writeFileSync(join(home, ".codex/config.toml"), CODEX_CONFIG(url));
    return { args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT] };
  }
  putPlugins(join(home, ".config/opencode"));
  const options = { baseURL: `${url}/openai/v1`, apiKey: "{env:SVC_LLM_API_KEY}" };
  const provider = { npm: "@ai-sdk/openai-compatible", options, models: { scripted: { tool_call: true } } };
  return {
    args: ["run", "--model", "svc/scripted", PROMPT],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        ...{ share: "disabled", autoupdate: false, permission: { "*": "allow" } },
        ...{ small_model: "svc/scripted", provider: { svc: provider } },
      }),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
  };
}

/** As in a sandbox: otherwise opencode would download the packages of its plugins. */
function putPlugins(config: string): void {
  mkdirSync(config, { recursive: true });
  if (RUNTIME_PLUGINS !== null)
    symlinkSync(join(RUNTIME_PLUGINS, "node_modules"), join(config, "node_modules"));
  const dependencies = { dependencies: { "@opencode-ai/plugin": RUNTIME_VERSION } };
  writeFileSync(join(config, "package.json"), JSON.stringify(dependencies));
  const lock = { lockfileVersion: 3, packages: { "": dependencies } };
  writeFileSync(join(config, "package-lock.json"), JSON.stringify(lock));
}
