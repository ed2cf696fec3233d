import type { Api } from "./api.ts";
import { configPath, readConfig } from "./config.ts";
import { CliError } from "./failure.ts";
import { type GitRemote, readRemotes } from "./git-remotes.ts";
import type { ProjectRef } from "./project.ts";
import { findByRemotes, gatewayHost, gatewayMatch } from "./project-by-remote.ts";
import type { System } from "./system.ts";
import { envToken, hostTarget, type Target } from "./target.ts";
import { displayUrl, oneLine, shellWord } from "./text.ts";

export interface Resolved {
  project: ProjectRef;
  /** The name of the remote. */
  remote: string;
  /** Another host than the current one, whose gateway the remote names. */
  target: Target | null;
}

interface Options {
  system: System;
  target: Target;
  /** Whether another host may be used: none is chosen yet, and nothing was sent. */
  mayChangeHost: boolean;
  /** The client of the current host. */
  api: () => Promise<Api>;
}

/**
 * The project of a directory without a link: the one whose gateway or repository a git remote names. Another host than the
 * current one is used only if the user is signed in to it.
 * @throws CliError `no_project`, also if several projects have the repository
 */
export async function resolveByRemote({ system, target, mayChangeHost, api }: Options): Promise<Resolved> {
  const remotes = await readRemotes(system);
  const own = gatewayMatch(target.url, remotes);
  if (own) return { project: { id: own.id, source: "remote" }, remote: own.remote, target: null };
  const other = await otherHost(system, target, remotes);
  if (other && mayChangeHost) return other;
  if (other?.target) {
    throw new CliError(
      "no_project",
      `No project: the remote ${oneLine(other.remote)} is on the host ${other.target.name}, but this command uses ${target.name} (${target.url}).`,
      { hint: `Pass --host ${other.target.name}, or --project <id-or-slug>.` },
    );
  }
  const found = target.token === undefined ? null : await findByRemotes(await api(), remotes);
  const [first, second] = found?.projects ?? [];
  if (!found || !first) throw notFound(target, remotes);
  if (!second) {
    return { project: { id: first.project_id, source: "remote" }, remote: found.remote.name, target: null };
  }
  const slugs = found.projects.map(({ slug }) => oneLine(slug)).join(", ");
  throw new CliError(
    "no_project",
    `${found.projects.length} projects on ${target.name} have the repository of the remote ${oneLine(found.remote.name)}: ${slugs}.`,
    {
      hint: `Choose one for this directory with \`svc projects link ${oneLine(first.slug)}\`, or pass --project.`,
    },
  );
}

/** A token of the environment belongs to the active host or to SVC_API_URL. */
async function otherHost(
  system: System,
  target: Target,
  remotes: readonly GitRemote[],
): Promise<Resolved | null> {
  if (remotes.length === 0 || target.source === "SVC_API_URL" || envToken(system.env)) return null;
  const host = gatewayHost(await readConfig(configPath(system)), remotes);
  const match = host && gatewayMatch(host.url, remotes);
  if (!host || !match) return null;
  return { project: { id: match.id, source: "remote" }, remote: match.remote, target: hostTarget(host) };
}

function notFound({ name, token }: Target, [remote]: readonly GitRemote[]): CliError {
  const link =
    "Run `svc projects link`, or `svc projects new` for a new project, or pass --project <id-or-slug>.";
  if (!remote) {
    return new CliError("no_project", "No project: this directory is not linked to one.", { hint: link });
  }
  const url = displayUrl(remote.url);
  if (token === undefined) {
    return new CliError(
      "no_project",
      `No project: this directory is not linked to one, and without a sign-in to ${name} svc cannot search for the project of ${url}.`,
      { hint: `Sign in with \`svc login\`. ${link}` },
    );
  }
  return new CliError(
    "no_project",
    `No project: this directory is not linked to one, and no project on ${name} has the repository ${url}.`,
    { hint: `Create one with \`svc projects new --repo ${shellWord(url)} --link\`. ${link}` },
  );
}
