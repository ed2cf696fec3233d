import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { System } from "../../system.ts";
import { type ScaffoldFile, skillFile, toolFile } from "./scaffold.ts";

interface LocalAgent {
  name: string;
  /** The folder of its settings: if it exists, the agent is in use. */
  settings(env: System["env"], home: string): string;
  programs: readonly string[];
  /** The folder of a repository that it reads skills from. */
  skills: string;
  /** The file of a repository that it reads MCP servers from; null: svc adds none to it. */
  servers: string | null;
}

/** From the documentation of each: code.claude.com, developers.openai.com/codex, cursor.com/docs, opencode.ai/docs. */
const AGENTS: readonly LocalAgent[] = [
  {
    name: "Claude Code",
    settings: (env, home) => env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"),
    programs: ["claude"],
    skills: ".claude/skills",
    servers: ".mcp.json",
  },
  {
    name: "Codex",
    settings: (env, home) => env["CODEX_HOME"] || join(home, ".codex"),
    programs: ["codex"],
    skills: ".agents/skills",
    servers: null,
  },
  {
    name: "Cursor",
    settings: (_, home) => join(home, ".cursor"),
    programs: ["cursor", "cursor-agent"],
    skills: ".agents/skills",
    servers: ".cursor/mcp.json",
  },
  {
    name: "opencode",
    settings: (env, home) => join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode"),
    programs: ["opencode"],
    skills: ".agents/skills",
    servers: null,
  },
];

export const LOCAL_AGENTS = AGENTS.map(({ name }) => name);

/** The skill files for the coding agents on this machine; agents that read the same folder share a file. */
export async function skillFiles(system: Pick<System, "env">): Promise<ScaffoldFile[]> {
  const found = await agentsInUse(system);
  return [...new Set(found.map(({ skills }) => skills))].map((folder) =>
    skillFile(
      folder,
      found.filter(({ skills }) => skills === folder).map(({ name }) => name),
    ),
  );
}

/** The files by which the coding agents on this machine get svc's tools. */
export async function toolFiles(system: Pick<System, "env">): Promise<ScaffoldFile[]> {
  const found = await agentsInUse(system);
  return found.flatMap(({ name, servers }) => (servers === null ? [] : toolFile(servers, [name])));
}

async function agentsInUse({ env }: Pick<System, "env">): Promise<LocalAgent[]> {
  const isHere = await Promise.all(AGENTS.map((agent) => isInUse(agent, env)));
  return AGENTS.filter((_, index) => isHere[index]);
}

async function isInUse({ settings, programs }: LocalAgent, env: System["env"]): Promise<boolean> {
  if (programs.some((program) => Bun.which(program, { PATH: env["PATH"] ?? "" }) !== null)) return true;
  const home = env["HOME"] || env["USERPROFILE"];
  if (!home) return false;
  const found = await stat(settings(env, home)).catch(() => null);
  return found?.isDirectory() ?? false;
}
