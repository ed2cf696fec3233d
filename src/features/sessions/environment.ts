import type { RecordedEarlier } from "../../contract/agent-record.ts";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import {
  type CustomRuntime,
  DEFAULT_MODE,
  DEFAULT_RUNTIME,
  type RuntimeKind,
  runtimeKind,
} from "../../contract/runtimes.ts";
import type { DaemonSetup } from "../../contract/setup.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { ModelAccess } from "../models/key.ts";
import { MODEL_PATHS } from "../models/paths.ts";
import { gitUrlOf } from "../projects/wire.ts";
import type { SandboxKeys } from "../runs/kind.ts";
import type { OpenSecrets } from "../secrets/open.ts";
import type { SessionRow } from "./row.ts";

interface SandboxOf {
  session: SessionRow;
  project: ProjectRow;
  /** What happened in earlier sandboxes, for the agent; null: nothing. */
  recap: string | null;
  /** What it continues with instead, if svc has its agent's record; null: svc has none. */
  recorded: RecordedEarlier | null;
  /** The agent; null: it is not started. */
  runtime: string | null;
  customRuntimes: readonly CustomRuntime[];
  /** The command to run before the agent starts; null: none. */
  setup: DaemonSetup | null;
}

/**
 * The environment of a session's sandbox (spec 2.8): the project's secrets, and svc's own variables, whose names no
 * secret can have.
 * @param apiUrl where the sandbox reaches the API, without `/v1`
 * @param restore the commit of saved work that the daemon restores
 */
export function environmentOf(
  { session, project, recap, recorded, runtime, customRuntimes, setup }: SandboxOf,
  keys: SandboxKeys,
  secrets: OpenSecrets,
  apiUrl: string,
  restore: string | null,
): Record<string, string> {
  const { sessionId } = session;
  const custom = customRuntimes.find(({ name }) => name === runtime);
  return {
    ...secrets.values,
    SVC_PROJECT_ID: project.projectId,
    SVC_SESSION_ID: sessionId,
    SVC_BRANCH_NAME: session.branchName,
    SVC_REPO_URL: gitUrlOf(apiUrl, project.projectId),
    SVC_DEFAULT_BRANCH: project.defaultBranch,
    SVC_BASE_REF: session.baseRef,
    SVC_SERVICE_PORT: String(DAEMON_PORT),
    SVC_API_URL: `${apiUrl}/v1`,
    SVC_PROJECT_AUTO_CLONE: "1",
    SVC_PROJECT_SECRET_NAMES: Object.keys(secrets.values).join(","),
    SVC_PROJECT_SECRETS_REVISION: secrets.revision,
    SVC_TOKEN: keys.serviceKey,
    ...(keys.token !== null && { SVC_CLI_TOKEN: keys.token, SVC_EXECUTOR_TOKEN: keys.token }),
    ...(setup !== null && { SVC_SETUP: JSON.stringify(setup) }),
    ...(restore !== null && { SVC_RESTORE_COMMIT: restore }),
    ...(recap !== null && { SVC_CONVERSATION_RECAP: recap }),
    ...(recorded !== null && { SVC_AGENT_RECORD: JSON.stringify(recorded) }),
    ...(runtime !== null && runtime !== DEFAULT_RUNTIME && { SVC_RUNTIME_NAME: runtime }),
    ...(custom && { SVC_RUNTIME_DESCRIPTION: JSON.stringify(custom) }),
    ...(session.agentName !== null && { SVC_AGENT_NAME: session.agentName }),
    ...(session.model !== null && { SVC_OPENCODE_MODEL: session.model }),
    ...(session.mode !== DEFAULT_MODE && { SVC_PERMISSION_MODE: session.mode }),
    ...(session.effort !== null && { SVC_REASONING_EFFORT: session.effort }),
    // only for the first start; svc delivers the prompt itself, as all others, also after a restart
    ...(session.initialPrompt !== null &&
      session.generation === 1 && {
        SVC_INITIAL_PROMPT: session.initialPrompt,
        SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
        SVC_PROMPT_QUEUE: "1",
      }),
    ...(keys.models !== null &&
      modelEnvironment(keys.models, runtimeKind(runtime ?? DEFAULT_RUNTIME, customRuntimes), apiUrl)),
  };
}

/** The model gateway: its address at svc, the key of this start, and the model of a session that does not choose one. */
function modelEnvironment(
  { key, defaultModels }: ModelAccess,
  runtime: RuntimeKind | null,
  apiUrl: string,
): Record<string, string> {
  const defaultModel = runtime && defaultModels[runtime.modelFormat];
  const url = `${apiUrl}${MODEL_PATHS.openai}`;
  return {
    SVC_LLM_API_KEY: key,
    SVC_LLM_BASE_URL: url,
    SVC_YOLO_API_KEY: key,
    SVC_YOLO_URL: url,
    ...(defaultModel !== null && { SVC_LLM_MODEL: defaultModel }),
  };
}
