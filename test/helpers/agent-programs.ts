import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { RUNTIME, RUNTIME_NAME } from "./runtime.ts";

/** Agents that people run, besides the runtime. `.ci/run` installs these versions; keep them equal. */
const CLAUDE_VERSION = "2.1.331";
const CODEX_VERSION = "0.169.0";

const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "svc");
const packages = join(cache, `agents-${CLAUDE_VERSION}-${CODEX_VERSION}`, "node_modules");

/** An agent, for `needs`, and its program; null without it. */
export interface AgentProgram {
  name: string;
  path: string | null;
}

/** The agents, each with the format in which it calls models. */
export const AGENT_PROGRAMS = {
  claude: {
    name: `Claude Code ${CLAUDE_VERSION} (.ci/run installs it)`,
    path: program(`@anthropic-ai/claude-code-linux-${process.arch}/claude`),
  },
  codex: {
    name: `Codex ${CODEX_VERSION} (.ci/run installs it)`,
    path: program(
      `@openai/codex-linux-${process.arch}/vendor/${process.arch === "x64" ? "x86_64" : "aarch64"}-unknown-linux-musl/bin/codex`,
    ),
  },
  opencode: { name: RUNTIME_NAME, path: RUNTIME },
} as const satisfies Record<string, AgentProgram>;

function program(path: string): string | null {
  const found = join(packages, path);
  try {
    accessSync(found, constants.X_OK);
    return found;
  } catch {
    return null;
  }
}
