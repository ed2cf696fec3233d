import { sep } from "node:path";
import type { CreateProjectBody, Project } from "../../../src/contract/project.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { findLink } from "../../link.ts";
import { findByRemotes, gatewayMatch } from "../../project-by-remote.ts";
import { oneLine } from "../../text.ts";
import { prepareLink, writeLink } from "../projects/link.ts";
import type { WorkTree } from "./work-tree.ts";

export interface Found {
  project: Project;
  /** Whether later commands find it in the same way. */
  isLinked: boolean;
}

/**
 * The project that this repository is shipped to: by name, else by its link, else by a remote on the current host's gateway,
 * else the one that has the repository of `origin`. Null if there is none yet. A link above the repository's top folder belongs to another repository.
 */
export async function findProject(context: Context, api: Api, tree: WorkTree): Promise<Found | null> {
  const { system, globals } = context;
  const isNamed = globals.project !== undefined || Boolean(system.env["SVC_PROJECT_ID"]);
  const link = isNamed ? null : await findLink(system.cwd);
  if (isNamed || (link !== null && `${link.folder}${sep}`.startsWith(`${tree.root}${sep}`))) {
    const { id } = await context.project();
    return { project: await getProject(api, id, link?.path), isLinked: true };
  }
  const gateway = gatewayMatch(api.target.url, tree.remotes);
  if (gateway) return { project: await getProject(api, gateway.id, undefined), isLinked: false };
  return await byRepository(api, tree);
}

/** @throws CliError `no_project` if several projects have this repository. */
async function byRepository(api: Api, tree: WorkTree): Promise<Found | null> {
  const origin = tree.remotes.filter(({ name }) => name === "origin");
  const [project, other] = (await findByRemotes(api, origin))?.projects ?? [];
  if (!project) return null;
  if (!other) return { project, isLinked: false };
  throw new CliError(
    "no_project",
    `Several projects on ${api.target.name} have the repository of the remote origin, such as ${oneLine(project.slug)} and ${oneLine(other.slug)}.`,
    { hint: `Choose one with \`svc projects link ${oneLine(project.slug)}\`, then run \`svc ship\` again.` },
  );
}

async function getProject(api: Api, id: string, linkedBy: string | undefined): Promise<Project> {
  return api.call<Project>({ path: path`/projects/${id}` }).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.code !== "not_found" || linkedBy === undefined) throw error;
    throw new CliError(error.code, `${linkedBy} links a project that no longer exists.`, {
      hint: "Run `svc projects unlink`; then `svc ship` creates a new one.",
    });
  });
}

/** Creates a project that svc hosts, and links the repository to it before anything else can fail. */
export async function createProject(
  context: Context,
  api: Api,
  { root }: WorkTree,
  body: CreateProjectBody,
): Promise<Project> {
  await prepareLink(root);
  const project = await api.call<Project>({ path: "/projects", body, slow: true });
  await writeLink(context, api.target, project, root).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      "file",
      `The project ${project.slug} was created, but this folder could not be linked to it. ${why}`,
      {
        hint: `Run \`svc projects link ${project.slug}\` here, then \`svc ship\` again.`,
      },
    );
  });
  return project;
}
