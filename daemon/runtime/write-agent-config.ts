import { join } from "node:path";
import type { AgentConfig } from "../git/agent-config.ts";
import { asAgent, type Children } from "../process/children.ts";
import { run } from "../process/run.ts";
import type { Settings } from "../settings.ts";

/** The project's agents could not be written. The message is the end of a sentence. */
export class AgentConfigWriteError extends Error {
  override readonly name = "AgentConfigWriteError";
}

/** Thousands of small files on a slow disk. */
const WRITE_MS = 60_000;

/** The project's agents, skills and tools, outside the clone: the session's branch does not change them. */
export function agentConfigFolder({ home }: Pick<Settings, "home">): string {
  return join(home, "agentrt");
}

/**
 * Replaces the folder with the agents, skills and tools of the default branch. The folder belongs to the agent, as its
 * home does, so this runs as the agent.
 * @throws AgentConfigWriteError
 */
export async function writeAgentConfig(
  { settings, children }: { settings: Settings; children: Children },
  { tar }: AgentConfig,
): Promise<void> {
  const words = ["sh", "-c", SCRIPT, "sh", agentConfigFolder(settings), tar === null ? "" : "tar"];
  const command = {
    ...asAgent(settings, words),
    environment: { PATH: settings.inherited["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    directory: "/",
    ...(tar && { stdin: tar }),
  };
  const ran = await run(children, command, WRITE_MS).catch(() => null);
  if (ran?.code === 0) return;
  const [reason = ""] = (ran?.stderr ?? "").trim().split("\n").slice(-1);
  throw new AgentConfigWriteError(
    `the project's agents could not be written: ${reason.slice(0, 200) || "no reason is known"}`,
  );
}

/** Without the owner of the files, which is root in the archive. */
const SCRIPT = `rm -rf -- "$1" && mkdir -p -- "$1" && { [ -z "$2" ] || tar -xof - -C "$1"; }`;
