import { resolve } from "node:path";
import type { CreateProjectBody, Project } from "../../../src/contract/project.ts";
import { hostOf, isLoopback } from "../../../src/contract/proxy.ts";
import { accountId } from "../../account.ts";
import type { Api } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { readSecret } from "../../input.ts";
import { hasRepository } from "../../project-by-remote.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import type { Target } from "../../target.ts";
import { displayUrl, oneLine } from "../../text.ts";
import { prepareLink, writeLink } from "./link.ts";

export const create: Handler<typeof table.create> = async (context, { args, flags }) => {
  const { out } = context;
  if (args.name !== undefined) requireNoAddress(args.name, flags.repo);
  const name = chosenName(args.name, flags.name) ?? nameFrom(flags.repo);
  const api = await context.api();
  const repo = flags.repo === undefined ? undefined : readRepo(context, api.target, flags.repo);
  if (repo !== undefined && !flags.force) await requireNoProject(api, repo);
  const token = flags["git-token"];
  const body: CreateProjectBody = { name };
  if (repo !== undefined) body.repo_url = repo;
  if (flags.branch !== undefined) body.default_branch = flags.branch;
  const account = await accountId(context, flags.account);
  if (account !== undefined) body.account_id = account;
  if (flags["git-username"] !== undefined) body.git_username = flags["git-username"];
  if (token !== undefined) body.git_token = await readSecret(context, token, "--git-token");
  // no project without the link that was asked for
  if (flags.link) await prepareLink(context.system.cwd);
  const project = await api.call<Project>({ path: "/projects", body, slow: true });
  const linked = flags.link ? await writeLink(context, api.target, project) : null;
  await out.result(
    project,
    () =>
      `Created the project ${oneLine(project.name)} (${oneLine(project.slug)}) on branch ${oneLine(project.default_branch)}.\n`,
  );
  const slug = oneLine(project.slug);
  if (project.managed && linked) await out.note(`Linked ${linked.path}.\nNext: svc ship`);
  else if (project.managed) {
    await out.note(`Next: svc projects link ${slug}      in your folder\n      svc ship`);
  } else if (linked) await out.note(`Linked ${linked.path}.\nNext: svc cr ls`);
  else
    await out.note(
      `Next: svc projects link ${slug}      in your checkout\n      svc cr ls --project ${slug}`,
    );
};

/** `svc projects new <url>` would create an empty repository with the address as its name. @throws CliError `usage` */
function requireNoAddress(name: string, repo: string | undefined): void {
  if (repo !== undefined || !/:\/\/|^[\w.-]+@[\w.-]+:/.test(name)) return;
  throw usage(
    `${displayUrl(name)} is an address, not a name.`,
    "Pass a repository's address with --repo: svc projects new --repo <url>",
  );
}

/** The name may be the argument or `--name`. @throws CliError `usage` if both are given and differ */
function chosenName(argument: string | undefined, flag: string | undefined): string | undefined {
  if (argument === undefined || flag === undefined || argument === flag) return flag ?? argument;
  throw usage(
    `Two names were given: ${oneLine(argument)} and --name ${oneLine(flag)}.`,
    "Pass one of them: svc projects new <name>",
  );
}

/** The URL of a repository, or the absolute path of one on this machine, if the server is there too. @throws CliError `usage` */
export function readRepo({ system }: Context, target: Target, repo: string): string {
  if (!/^(?:\.{0,2}\/|\.{1,2}$)/.test(repo)) return repo;
  if (isLoopback(hostOf(target.url))) return resolve(system.cwd, repo);
  throw usage(
    `--repo ${oneLine(repo)} is a folder on this machine, which ${target.name} (${target.url}) cannot read.`,
    "Pass the repository's URL. Or run `svc ship` in the folder: svc then hosts the repository.",
  );
}

/** A second project of a repository is nearly always a mistake. The server allows it. @throws CliError `project_exists` */
async function requireNoProject(api: Api, repo: string): Promise<void> {
  const all = await api.list<Project>({ path: "/projects" }, "projects");
  const existing = all.find((project) => hasRepository(project, repo));
  if (!existing) return;
  const slug = oneLine(existing.slug);
  throw new CliError(
    "project_exists",
    `${displayUrl(repo)} has a project on ${api.target.name} already: ${oneLine(existing.name)} (${slug}).`,
    {
      hint: `Link this directory to it with \`svc projects link ${slug}\`. To create another one, pass --force.`,
    },
  );
}

/** `shop` for `https://git.example.com/team/shop.git` and for `git@git.example.com:team/shop`. */
function nameFrom(repo: string | undefined): string {
  if (repo === undefined) {
    throw usage(
      "A repository or a name is required.",
      "Pass --repo <url> for a repository on a git host, or a name for a new one that svc hosts: svc projects new <name>",
    );
  }
  const path = repo.split(/[?#]/)[0] ?? "";
  const last =
    path
      .replace(/[/\\]+$/, "")
      .split(/[/:\\]/)
      .at(-1) ?? "";
  const name = last.replace(/\.git$/i, "");
  if (/[\p{L}\p{N}]/u.test(name)) return name.slice(0, 128);
  throw usage("Cannot derive a name from the repository's address.", "Pass --name <name>.");
}
