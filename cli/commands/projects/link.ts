import { constants } from "node:fs";
import { access, lstat, mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Project } from "../../../src/contract/project.ts";
import { type Api, path } from "../../api.ts";
import { replace } from "../../config-write.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { readRemotes } from "../../git-remotes.ts";
import { findLink, linkPath } from "../../link.ts";
import { checkProjectName } from "../../project.ts";
import { findByRemotes } from "../../project-by-remote.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { resolveTarget, type Target } from "../../target.ts";
import { oneLine } from "../../text.ts";
import { ignoreLink } from "./ignore-link.ts";

export const link: Handler<typeof table.link> = async (context, { args }) => {
  const { system, globals, out } = context;
  // An existing link must not decide the host of the new one.
  const target = await resolveTarget(system, { host: globals.host, useLink: false });
  const api = context.apiFor(target);
  const wanted = args["id-or-slug"] ?? globals.project;
  const name =
    wanted === undefined ? await pickProject(context, api) : checkProjectName(wanted, "The project");
  const project = await api.call<Project>({ path: path`/projects/${name}` });
  const written = await writeLink(context, target, project);
  await out.result(written, () => `Linked ${written.path} to ${oneLine(project.name)} on ${target.name}.\n`);
  await out.note("Next: svc cr ls");
};

export const unlink: Handler<typeof table.unlink> = async ({ system, out }) => {
  const file = linkPath(system.cwd);
  try {
    await rm(file);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" && systemCode(error) !== "ENOTDIR") {
      throw new CliError("file", `${file} cannot be removed (${systemCode(error) ?? "unknown error"}).`);
    }
    const above = await findLink(system.cwd).catch(() => null);
    throw new CliError("no_project", `This directory is not linked: ${file} does not exist.`, {
      hint: above
        ? `The current link is ${above.path}. Run \`svc projects unlink\` in ${above.folder}.`
        : undefined,
    });
  }
  await out.result({ path: file, removed: true }, () => `Removed ${file}.\n`);
};

/** Writes a folder's link, by default in the working directory. */
export async function writeLink({ system }: Context, target: Target, project: Project, folder = system.cwd) {
  const link = {
    project_id: project.project_id,
    account_id: project.account_id,
    host: target.name,
    host_url: target.url,
  };
  const file = linkPath(folder);
  await prepareLink(folder);
  try {
    await replace(file, `${JSON.stringify(link, null, 2)}\n`, 0o644);
  } catch (error) {
    throw cannotWrite(file, error);
  }
  return { ...link, path: file };
}

/**
 * Checks that a link can be written, and keeps it out of commits. A `.svc` that is a symbolic link is not followed.
 * @throws CliError `file`.
 */
export async function prepareLink(folder: string): Promise<void> {
  const file = linkPath(folder);
  const own = dirname(file);
  try {
    await mkdir(own, { recursive: true });
    if ((await lstat(own)).isSymbolicLink()) {
      throw new CliError("file", `${own} is a symbolic link. Nothing was written.`);
    }
    await access(own, constants.W_OK);
    await ignoreLink(folder);
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

const cannotWrite = (file: string, error: unknown): CliError =>
  error instanceof CliError
    ? error
    : new CliError("file", `${file} cannot be written (${systemCode(error) ?? "unknown error"}).`, {
        hint: "Make the folder writable, or leave it unlinked and pass --project <id-or-slug> to each command.",
      });

/** Prompts, with the projects of this repository first. Without a terminal, takes the only project of this repository. */
async function pickProject(context: Context, api: Api): Promise<string> {
  const found = await findByRemotes(api, await readRemotes(context.system));
  const matches = found?.projects ?? [];
  if (!context.canAsk()) {
    const [only, other] = matches;
    if (only && !other) return only.project_id;
    throw usage(
      "svc projects link needs <id-or-slug>: the project.",
      other
        ? `${matches.length} projects have this repository: ${matches.map(({ slug }) => oneLine(slug)).join(", ")}.`
        : "No project has a remote of this folder. `svc projects ls` lists all, and `svc projects new` creates one.",
    );
  }
  const projects = await api.list<Project>({ path: "/projects" }, "projects");
  if (projects.length === 0) {
    throw new CliError("no_project", `There are no projects on ${api.target.name} yet.`, {
      hint: "Create one with `svc projects new --repo <url>`.",
    });
  }
  const { choose } = await import("../../prompt.ts");
  const isMatch = (project: Project) => matches.some(({ project_id }) => project_id === project.project_id);
  const sorted = projects.toSorted((a, b) => Number(isMatch(b)) - Number(isMatch(a)));
  return choose(
    "Which project is this?",
    sorted.map((project) => ({
      value: project.project_id,
      label: project.name,
      hint: isMatch(project) ? `this repository: ${project.repo_url}` : project.repo_url,
    })),
  );
}
