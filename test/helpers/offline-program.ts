/**
 * Run in a network namespace of its own, with names of agents: starts a server with the model gateway and a scripted
 * upstream, runs one agent after the other with a prompt on the key of a session of its own, and prints what became of
 * each as JSON, in one line.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import type { UsageRow } from "../../src/contract/usage.ts";
import { AGENT_PROGRAMS } from "./agent-programs.ts";
import { startAgentUpstream } from "./agent-upstream.ts";
import { openDark, sentIntoDark } from "./dark-network.ts";
import { UPSTREAM_KEY } from "./model-bench.ts";
import { RUNTIME_PLUGINS } from "./runtime.ts";
import { startSessions } from "./sessions.ts";

/** Its output: a report of each agent, in the order of the names. */
export interface ProgramReport {
  code: number;
  out: string;
  err: string;
  /** What the gateway has measured of its session, and the upstream has counted. */
  used: UsageRow;
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
const names = process.argv.slice(2).map(nameOf);
const folder = mkdtempSync(join(tmpdir(), "svc-program-"));
using upstream = startAgentUpstream("echo ran-$((40 + 2))");
const file = join(folder, "models.toml");
const entry = (format: string, path: string) =>
  `[[upstreams]]\nid = "${format}"\nformat = "${format}"\nurl = "${upstream.url}${path}"\nkey = "${UPSTREAM_KEY}"\n`;
writeFileSync(file, entry("openai", "/v1") + entry("anthropic", ""));
const sessions = await startSessions({ env: { SVC_MODELS_FILE: file } });
const { api } = sessions;
const account: string = (await api.call("GET", "/v1/accounts/me")).body.accounts[0].account_id;
const reports: ProgramReport[] = [];
for (const name of names) reports.push(await run(name));
await sessions.stop();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(reports)}\n`);
process.exit(0);

/** What the gateway has measured of one session. */
async function usageOf(id: string): Promise<UsageRow> {
  const { body } = await api.call("GET", `/v1/accounts/${account}/usage?group_by=session`);
  const rows: UsageRow[] = body.usage;
  const found = rows.find(({ key }) => key === id);
  if (!found) throw new Error("the session has used no model");
  return found;
}

async function run(name: Name): Promise<ProgramReport> {
  const [home, work] = [join(folder, name, "home"), join(folder, name, "work")];
  for (const made of [join(home, ".codex"), work]) mkdirSync(made, { recursive: true });
  const { session_id: id } = await sessions.create();
  await sessions.becomes(id, "running");
  const key = sessions.provider.sandboxes.get(id)?.environment["SVC_LLM_API_KEY"] ?? "";
  const before = { ...upstream.counted, packets: sentIntoDark() };
  upstream.paths.length = 0;
  upstream.credentials.clear();
  const { args, env } = startOf(name, home, key);
  const child = Bun.spawn([AGENT_PROGRAMS[name].path ?? "/nonexistent", ...args], {
    cwd: work,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, SVC_LLM_API_KEY: key, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: WAIT_LIMIT_MS / 2,
    killSignal: "SIGKILL",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const code = await child.exited;
  const { counted, paths, credentials } = upstream;
  return {
    ...{ code, out, err, used: await usageOf(id), paths: [...paths], credentials: [...credentials] },
    counted: { input: counted.input - before.input, output: counted.output - before.output },
    packets: sentIntoDark() - before.packets,
  };
}

function nameOf(word: string | undefined): Name {
  if (word === "claude" || word === "codex" || word === "opencode") return word;
  throw new Error("the name of an agent is required");
}

function startOf(agent: Name, home: string, key: string): Start {
  const url = `${api.url}/v1/llm`;
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
