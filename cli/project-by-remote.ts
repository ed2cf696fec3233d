import type { Project } from "../src/contract/project.ts";
import { repositoryKey } from "../src/contract/repository-address.ts";
import type { Api } from "./api.ts";
import { type Config, type Host, listHosts } from "./config.ts";
import { CliError } from "./failure.ts";
import { gatewayProject, projectIdOf } from "./gateway.ts";
import type { GitRemote } from "./git-remotes.ts";

/** A project whose repository is the one of a remote. */
export interface RemoteMatch {
  /** Its id. */
  id: string;
  /** The remote's name. */
  remote: string;
}

/** The project whose address on this host's gateway a remote has. Needs no request. */
export function gatewayMatch(hostUrl: string, remotes: readonly GitRemote[]): RemoteMatch | null {
  for (const { name, url } of remotes) {
    const id = projectIdOf(hostUrl, url);
    if (id !== undefined) return { id, remote: name };
  }
  return null;
}

/**
 * The host whose gateway a remote names, among those that the user has signed in to: a clone must not choose where a token
 * is sent.
 */
export function gatewayHost(config: Config, remotes: readonly GitRemote[]): Host | null {
  const known = listHosts(config).filter(({ token }) => token !== undefined);
  return known.find(({ url }) => gatewayMatch(url, remotes) !== null) ?? null;
}

/** The projects on the host that have the repository of a remote: of the first remote for which there are any. */
export async function findByRemotes(
  api: Api,
  remotes: readonly GitRemote[],
): Promise<{ remote: GitRemote; projects: Project[] } | null> {
  if (remotes.length === 0) return null;
  const all = await api.list<Project>({ path: "/projects" }, "projects").catch((error: unknown) => {
    // a token of one project lists none
    if (error instanceof CliError && error.code === "forbidden") return [];
    throw error;
  });
  for (const remote of remotes) {
    const projects = all.filter((project) => hasRepository(project, remote.url));
    if (projects.length > 0) return { remote, projects };
  }
  return null;
}

/** Whether an address is that of a project's repository: on its git host, or on the gateway under any of its names. */
export function hasRepository(project: Project, address: string): boolean {
  const key = repositoryKey(address);
  if (key !== null && [project.repo_url, project.git_url].some((url) => repositoryKey(url) === key))
    return true;
  return gatewayProject(address) === project.project_id;
}
