import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { within } from "../../lib/within.ts";
import { listAgents } from "../projects/agents.ts";

/** Nobody waits longer for a session to be taken: then it is not known, and the sandbox finds out. */
const ASK_MS = 15_000;
/** Agents that a refusal names. */
const SHOWN_MAX = 20;

/**
 * Refuses an agent that sessions of the project cannot have (spec 1, "Skills / agents"). Where the repository does not say
 * in time, nobody is kept from starting a session: its first prompt tells then that there is no such agent.
 * @throws validation_failed, naming those that there are
 */
export async function requireAgent(deps: Deps, project: ProjectRow, name: string): Promise<void> {
  const agents = await knownAgents(deps, project);
  if (agents === null || agents.includes(name)) return;
  const shown = agents.slice(0, SHOWN_MAX).join(", ");
  const more = agents.length > SHOWN_MAX ? ` and ${agents.length - SHOWN_MAX} more` : "";
  throw new SvcError(
    "validation_failed",
    `There is no agent "${name}" on the branch ${project.defaultBranch}: only what is merged counts. There are: ${shown}${more}.`,
    { details: [{ path: "agent_name", message: "is no agent of the project's default branch" }] },
  );
}

/** Null: nobody can say. */
async function knownAgents(deps: Deps, project: ProjectRow): Promise<string[] | null> {
  const late = () => new SvcError("unavailable", "The repository does not say in time.");
  try {
    const asked = listAgents(deps, project);
    // it may fail after nobody waits any more
    asked.catch(() => {});
    return (await within(asked, ASK_MS, late)).agents.map((agent) => agent.name);
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}
