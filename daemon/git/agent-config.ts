import { AGENT_CONFIG_COMMIT, AGENT_CONFIG_MAX_BYTES } from "../../src/contract/daemon.ts";
import { field, parseJson } from "../../src/contract/json.ts";
import type { Settings } from "../settings.ts";
import { CloneError } from "./clone-error.ts";

/** The project's agents, skills and tools, of the default branch. */
export interface AgentConfig {
  /** Whose paths begin in their folder; null: the project has none. */
  tar: Uint8Array | null;
  /** What it is of; null when the API did not say. */
  commit: string | null;
}

export const NO_AGENT_CONFIG: AgentConfig = { tar: null, commit: null };

/** The API did not give it. The message is a sentence for a person. */
export class AgentConfigError extends CloneError {
  override readonly name = "AgentConfigError";
}

/** svc itself waits a minute for a large repository's first fetch. */
const ASK_MS = 120_000;
const SENTENCE_MAX = 500;
/** What will not be otherwise when it is asked again. */
const PERMANENT: ReadonlySet<number> = new Set([401, 403, 404, 413]);

/**
 * Asks `GET /v1/projects/:id/git/agent-config`: svc tells what is merged, whatever the workspace's own git would say.
 * @throws AgentConfigError
 */
export async function fetchAgentConfig(
  { apiUrl, projectId, token }: Pick<Settings, "apiUrl" | "projectId" | "token">,
  signal?: AbortSignal,
): Promise<AgentConfig> {
  const limit = AbortSignal.timeout(ASK_MS);
  try {
    const answer = await fetch(`${apiUrl}/projects/${projectId}/git/agent-config`, {
      headers: { Authorization: `Bearer ${token}`, Accept: "application/x-tar, application/json" },
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const bytes = await readAll(answer);
    if (!answer.ok) throw refusal(answer.status, bytes);
    if (answer.status === 204) return NO_AGENT_CONFIG;
    return { tar: bytes, commit: answer.headers.get(AGENT_CONFIG_COMMIT) };
  } catch (error) {
    if (error instanceof AgentConfigError) throw error;
    throw new AgentConfigError("svc's API cannot be reached for the project's agents.", false);
  }
}

async function readAll(answer: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > AGENT_CONFIG_MAX_BYTES)
      throw new AgentConfigError("svc's API sends more than agents, skills and tools can have.", true);
  }
  return Buffer.concat(parts);
}

function refusal(status: number, body: Uint8Array): AgentConfigError {
  const sentence = field(parseJson(Buffer.from(body).toString()), "error");
  const why =
    typeof sentence === "string" ? sentence.slice(0, SENTENCE_MAX) : `svc's API answered ${status}.`;
  return new AgentConfigError(`The project's agents cannot be had: ${why}`, PERMANENT.has(status));
}
