import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { ago, sheet } from "../../table-print.ts";

export const info: Handler<typeof table.info> = async (context, { args }) => {
  const { id, source } = await context.project(args["id-or-slug"]);
  const api = await context.api();
  const project = await api.call<Project>({ path: path`/projects/${id}` });
  await context.out.result({ ...project, resolved_from: source }, (view) =>
    sheet(
      [
        ["name", project.name],
        ["slug", project.slug],
        ["id", project.project_id],
        ["account", project.account_id],
        ["repository", project.repo_url],
        ["gateway", project.git_url],
        ["default branch", project.default_branch],
        ["manifest", project.manifest_path],
        ["created", view.tty ? ago(project.created_at, view.now) : project.created_at],
        ["resolved from", source],
      ],
      view,
    ),
  );
};
