import { SvcError } from "../../../contract/errors.ts";
import { RUNTIME_NAMES, RUNTIMES } from "../../../contract/runtimes.ts";
import type { ProviderName, RuntimeOffer } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { modelsOfFormat } from "../../models/list-models.ts";
import { upstreamsOf } from "../../models/stored-upstreams.ts";
import { requireRuntime } from "../require-agent.ts";
import { holderFor } from "../secrets.ts";
import { keyOf } from "./known.ts";

/** The agents of the server: whether new sessions of the caller can start them, and whether they have a key. */
export async function listRuntimes(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
): Promise<{ runtimes: RuntimeOffer[] }> {
  const { projectId } = project;
  const holder = await holderFor(deps.db, caller);
  const upstreams = await upstreamsOf(deps, deps.db, projectId);
  const provider = deps.sandboxes.get(deps.sandboxes.defaultName);
  const known = RUNTIME_NAMES.map((name) => ({ name, ...RUNTIMES[name] }));
  const runtimes = [...known, ...deps.customRuntimes].map(async (kind): Promise<RuntimeOffer> => {
    const { name, title, modelFormat, secrets } = kind;
    const { ids, any } = modelsOfFormat(upstreams, modelFormat);
    const hasGateway = ids.length > 0 || any !== undefined;
    // opencode finds the keys of all providers itself
    const hasKey =
      hasGateway || secrets.length === 0 || (await keyOf(deps, projectId, kind, holder)) !== null;
    const problem = provider?.runtimeProblem?.(name) ?? null;
    return {
      name,
      title,
      installed: provider?.runtimeProblem ? problem === null : null,
      problem,
      missing_keys: hasKey ? [] : [...secrets],
    };
  });
  return { runtimes: await Promise.all(runtimes) };
}

/** @throws validation_failed if the server does not know the agent, runtime_not_installed if sandboxes of the provider cannot have the agent */
export function requireInstalled(
  deps: Pick<Deps, "sandboxes" | "customRuntimes">,
  provider: ProviderName,
  name: string,
): void {
  requireRuntime(deps, name);
  const problem = deps.sandboxes.get(provider)?.runtimeProblem?.(name) ?? null;
  if (problem !== null) throw new SvcError("runtime_not_installed", problem);
}
