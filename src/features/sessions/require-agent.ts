import { SvcError } from "../../contract/errors.ts";
import { DEFAULT_RUNTIME, runtimeKind, unknownRuntime } from "../../contract/runtimes.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { within } from "../../lib/within.ts";
import { listAgents } from "../projects/agents.ts";

/** After this long, the session is created without the check. */
const TIMEOUT_MS = 15_000;
/** Agents that the error lists. */
const SHOWN_MAX = 20;

/**
 * Checks that an agent exists on the project's default branch (spec 1, "Skills / agents"). When the repository does not
 * answer in time, the check passes: the session's first prompt then fails if the agent does not exist.
 * @throws validation_failed, which lists the available agents
 */
export async function requireAgent(
  deps: Deps,
  project: ProjectRow,
  name: string,
  runtime: string = DEFAULT_RUNTIME,
): Promise<void> {
  if (runtime !== DEFAULT_RUNTIME) {
    const title = runtimeKind(runtime, deps.customRuntimes)?.title ?? runtime;
    throw new SvcError(
      "validation_failed",
      `${title} has no agents to choose from: leave out agent_name, or use the runtime ${DEFAULT_RUNTIME}.`,
      { details: [{ path: "agent_name", message: `cannot be used with the runtime ${runtime}` }] },
    );
  }
  const agents = await knownAgents(deps, project);
  if (agents === null || agents.includes(name)) return;
  const shown = agents.slice(0, SHOWN_MAX).join(", ");
  const more = agents.length > SHOWN_MAX ? ` and ${agents.length - SHOWN_MAX} more` : "";
  throw new SvcError(
    "validation_failed",
    `Agent "${name}" not found on the branch ${project.defaultBranch}. Only merged agents can be used. Available: ${shown}${more}.`,
    { details: [{ path: "agent_name", message: "is not an agent on the project's default branch" }] },
  );
}

/** Null: unknown. */
async function knownAgents(deps: Deps, project: ProjectRow): Promise<string[] | null> {
  const late = () =>
    new SvcError(
      "unavailable",
      `The repository of ${project.name} did not answer in time. Try again in a moment.`,
    );
  try {
    const listing = listAgents(deps, project);
    // it may fail after the timeout
    listing.catch(() => {});
    return (await within(listing, TIMEOUT_MS, late)).agents.map((agent) => agent.name);
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** @throws validation_failed for an agent that the server does not have */
export function requireRuntime({ customRuntimes }: Pick<Deps, "customRuntimes">, runtime: string): void {
  if (runtimeKind(runtime, customRuntimes) !== null) return;
  throw new SvcError("validation_failed", unknownRuntime(runtime, customRuntimes), {
    details: [{ path: "runtime", message: "is not an agent of this server" }],
  });
}
