import type { Project } from "../../../src/contract/project.ts";
import { accountId } from "../../account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const api = await context.api();
  const account = flags.account === undefined ? undefined : await accountId(context, flags.account);
  const call = { path: "/projects", query: { account_id: account } };
  const projects = await api.list<Project>(call, "projects");
  await context.out.result(projects, (view) =>
    projects.length === 0 ? "" : tableOf(projects, view.tty ? COLUMNS : [...COLUMNS, ID], view),
  );
  if (projects.length === 0) await context.out.note("No projects yet. Next: svc projects new --repo <url>");
};

const COLUMNS: Column<Project>[] = [
  { title: "SLUG", value: (project) => project.slug },
  { title: "NAME", value: (project) => project.name, flexible: true },
  { title: "BRANCH", value: (project) => project.default_branch },
  { title: "REPOSITORY", value: (project) => project.repo_url, flexible: true },
];

/** For scripts; on a terminal the slug is enough. */
const ID: Column<Project> = { title: "ID", value: (project) => project.project_id };
