import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { dashboardOf, openPage } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";

export const open: Handler<typeof table.open> = async (context, { args, flags }) => {
  const { id } = await context.project(args["id-or-slug"]);
  const api = await context.api();
  const project = await api.call<Project>({ path: path`/projects/${id}` });
  const url = `${dashboardOf(context.system, api.target)}${path`/projects/${project.project_id}`}`;
  await openPage(context, url, flags["print-url"]);
};
