import { CliError, usage } from "./failure.ts";
import { findLink } from "./link.ts";
import type { System } from "./system.ts";
import type { Target } from "./target.ts";
import { oneLine } from "./text.ts";

/** The project that a command acts on. `id` is a UUID or a slug. */
export interface ProjectRef {
  id: string;
  source: "argument" | "--project" | "SVC_PROJECT_ID" | "link" | "remote";
}

/** Whether a text is safe as a project in a path: no slash, no `..`. */
export const isProjectName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(text);

/** @throws CliError `usage`. */
export function checkProjectName(text: string, where: string): string {
  if (isProjectName(text)) return text;
  throw usage(`${where} is not a valid project id or slug: ${oneLine(text).slice(0, 100)}`);
}

/**
 * Spec 4.5: `--project`, then SVC_PROJECT_ID, then the nearest link. A link is used only with the host it names. Then the
 * remotes of the repository.
 * @param byRemote finds the project of a remote; throws `no_project` if there is none
 * @throws CliError `no_project`, `link_invalid`, `usage`.
 */
export async function resolveProject(
  system: System,
  flag: string | undefined,
  target: Target,
  byRemote: () => Promise<ProjectRef>,
): Promise<ProjectRef> {
  if (flag !== undefined) return { id: checkProjectName(flag, "--project"), source: "--project" };
  const fromEnv = system.env["SVC_PROJECT_ID"];
  if (fromEnv) return { id: checkProjectName(fromEnv, "SVC_PROJECT_ID"), source: "SVC_PROJECT_ID" };
  const found = await findLink(system.cwd);
  if (!found) return byRemote();
  if (found.link.host_url !== target.url) {
    throw new CliError(
      "no_project",
      `No project: ${found.path} links one on ${found.link.host} (${found.link.host_url}), but this command uses ${target.name} (${target.url}).`,
      { hint: "Pass --project <id-or-slug>, or run `svc projects link` for this host." },
    );
  }
  return { id: found.link.project_id, source: "link" };
}
