import { join } from "node:path";
import type { AgentConfig } from "../git/agent-config.ts";
import { asAgent, type Children } from "../process/children.ts";
import { run } from "../process/run.ts";
import type { Settings } from "../settings.ts";

/** The project's agents cannot be laid out. The message is the end of a sentence. */
export class AgentConfigWriteError extends Error {
  override readonly name = "AgentConfigWriteError";
}

/** Some thousand small files on a slow disk. */
const WRITE_MS = 60_000;

/** Where the runtime finds the project's agents, skills and tools: beside the clone, whose branch has no say in them. */
export function agentConfigFolder({ home }: Pick<Settings, "home">): string {
  return join(home, "agentrt");
}

/**
 * Lays them out anew, as they are merged: what an agent has changed there is gone. The folder is the agent's own, as its
 * home is, so it is done as the agent.
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
    `the project's agents cannot be laid out: ${reason.slice(0, 200) || "no reason is known"}`,
  );
}

/** Whose files they were is not kept: the archive says root's. */
const SCRIPT = `rm -rf -- "$1" && mkdir -p -- "$1" && { [ -z "$2" ] || tar -xof - -C "$1"; }`;
