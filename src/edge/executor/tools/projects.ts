import { listProjects } from "../../../features/projects/list.ts";
import { type Tool, userTool } from "../tool.ts";
import { pageFields, pageOf } from "./shown.ts";

export const projectTools: Tool[] = [
  userTool({
    name: "list_projects",
    title: "List projects",
    description:
      "Lists the projects that you can access. The other tools take the slug of one as their argument `project`.",
    isRead: true,
    callers: "user",
    fields: pageFields,
    async run(deps, { caller }, args) {
      const { projects, ...next } = await listProjects(deps, caller, pageOf(args));
      return {
        projects: projects.map(({ slug, name, default_branch, repo_url }) => ({
          slug,
          name,
          default_branch,
          repo_url,
        })),
        ...next,
      };
    },
  }),
];
