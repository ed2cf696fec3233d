import { AGENT_CONFIG_COMMIT, AGENT_CONFIG_MAX_BYTES } from "../../src/contract/daemon.ts";
import { field, parseJson } from "../../src/contract/json.ts";
import type { Settings } from "../settings.ts";
import { CloneError } from "./clone-error.ts";

/** The project's agents, skills and tools, of the default branch. */
export interface AgentConfig {
  /** Paths are relative to the configuration folder; null: the project has none. */
  tar: Uint8Array | null;
  /** The commit that it is from; null if the API did not send it. */
  commit: string | null;
}

export const NO_AGENT_CONFIG: AgentConfig = { tar: null, commit: null };

/** The configuration could not be fetched. The message is a sentence for a person. */
export class AgentConfigError extends CloneError {
  override readonly name = "AgentConfigError";

  constructor(why: string, permanent: boolean) {
    super(`The project's agents could not be fetched: ${why}`, permanent);
  }
}

/** svc itself waits a minute for a large repository's first fetch. */
const FETCH_MS = 120_000;
const SENTENCE_MAX = 500;
/** Statuses for which a retry is not expected to help. */
const PERMANENT: ReadonlySet<number> = new Set([401, 403, 404, 413]);

/**
 * Fetches `GET /v1/projects/:id/git/agent-config`: the version of the default branch, not of the workspace.
 * @throws AgentConfigError
 */
export async function fetchAgentConfig(
  { apiUrl, projectId, token }: Pick<Settings, "apiUrl" | "projectId" | "token">,
  signal?: AbortSignal,
): Promise<AgentConfig> {
  const limit = AbortSignal.timeout(FETCH_MS);
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
    throw new AgentConfigError("svc's API cannot be reached.", false);
  }
}

async function readAll(answer: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > AGENT_CONFIG_MAX_BYTES)
      throw new AgentConfigError("The response of svc's API is too large.", true);
  }
  return Buffer.concat(parts);
}

function refusal(status: number, body: Uint8Array): AgentConfigError {
  const sentence = field(parseJson(Buffer.from(body).toString()), "error");
  const why =
    typeof sentence === "string" ? sentence.slice(0, SENTENCE_MAX) : `svc's API returned status ${status}.`;
  return new AgentConfigError(why, PERMANENT.has(status));
}
