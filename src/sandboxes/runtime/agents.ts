import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { RUNTIMES, type RuntimeName } from "../../contract/runtimes.ts";
import { AGENT_PROGRAMS, CLAUDE_PACKAGES, CLAUDE_VERSION, CODEX_VERSION } from "./agent-packages.ts";
import { type InstallOptions, installInto } from "./install.ts";
import { InstallError } from "./install-error.ts";
import type { Package } from "./packages.ts";
import { systemName } from "./system.ts";

/** An agent that is installed on demand: all but the default one. */
export type AgentName = Exclude<RuntimeName, "opencode">;

interface Installable {
  version: string;
  /** The packages for this system; null if there is no program for it. */
  packages(): readonly Package[] | null;
  /** The path of the program in the folder of the installation. */
  program(own: Package): string;
}

const AGENTS: Record<AgentName, Installable> = {
  "claude-code": {
    version: CLAUDE_VERSION,
    packages() {
      const own = AGENT_PROGRAMS["claude-code"][systemName()];
      return own ? [own, ...CLAUDE_PACKAGES] : null;
    },
    program: () => "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
  },
  codex: {
    version: CODEX_VERSION,
    packages() {
      const own = AGENT_PROGRAMS.codex[systemName()];
      return own ? [own] : null;
    },
    program: ({ name }) => `node_modules/${name}/bin/codex-acp`,
  },
};

export function agentVersion(name: AgentName): string {
  return AGENTS[name].version;
}

/** An agent's folder in a data folder. */
export function agentFolder(dataDir: string, name: AgentName): string {
  return join(dataDir, "runtime", `${name}-${AGENTS[name].version}`);
}

/** The path of an agent's program in its folder; null if there is none for this system. */
export function agentProgram(name: AgentName): string | null {
  const [own] = AGENTS[name].packages() ?? [];
  return own ? AGENTS[name].program(own) : null;
}

/**
 * Installs an agent into the data folder: the packages that its maker publishes, checked against known digests.
 * @returns the folder
 * @throws InstallError; the signal's reason
 */
export async function installAgent(
  name: AgentName,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<string> {
  const packages = AGENTS[name].packages();
  const program = agentProgram(name);
  if (packages === null || program === null)
    throw new InstallError(
      `${RUNTIMES[name].title} has no program for ${process.platform}-${process.arch} with this C library.`,
    );
  const installation = {
    target: agentFolder(options.dataDir, name),
    packages: packages.map((pack) => ({ pack, into: join("node_modules", pack.name) })),
    program,
    // npm makes a package's programs executable; their archives do not
    check: async (folder: string) => chmod(join(folder, program), 0o755),
  };
  return await installInto(installation, options, signal);
}
