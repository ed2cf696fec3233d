import type { CreateSessionBody } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { requireAgent } from "../require-agent.ts";
import type { SessionRow } from "../row.ts";
import { holderOf } from "../secrets.ts";
import { knownChoices, runtimeFor } from "./known.ts";
import { requireEffort, requireMode, requireModel } from "./require.ts";
import { requireInstalled } from "./runtimes.ts";

/**
 * Checks what the agent of a new session is to work with.
 * @returns the model, as it is stored
 * @throws validation_failed with what there is, runtime_not_installed
 */
export async function requireChoice(
  deps: Deps,
  project: ProjectRow,
  session: Pick<SessionRow, "provider" | "createdBy" | "getsOwnSecrets">,
  { runtime: chosen, agent_name, model, mode, effort }: CreateSessionBody,
): Promise<Partial<Pick<SessionRow, "model">>> {
  const isAny = [agent_name, model, mode, effort, chosen].some((each) => each !== undefined);
  if (!isAny) return {};
  const runtime = await runtimeFor(deps, project, chosen);
  requireInstalled(deps, session.provider, runtime);
  if (agent_name !== undefined) await requireAgent(deps, project, agent_name, runtime);
  const known = await knownChoices(deps, project, runtime, null, holderOf(session));
  if (mode !== undefined) requireMode(known, mode);
  const name = model === undefined ? null : requireModel(known, model);
  if (effort !== undefined) requireEffort(known, name, effort);
  // one without a provider is the gateway's in any case
  return name !== null && model?.includes("/") ? { model: name } : {};
}
