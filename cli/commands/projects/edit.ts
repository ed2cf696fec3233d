import type { EditedProject, EditProjectBody } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { budgetLines, budgetsOf } from "../../dollars.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { sheet } from "../../table-print.ts";
import { readRepo } from "./new.ts";

export const edit: Handler<typeof table.edit> = async (context, { args, flags }) => {
  const { name, repo, branch } = flags;
  const api = await context.api();
  const body: EditProjectBody = {
    ...(name !== undefined && { name }),
    ...(repo !== undefined && { repo_url: readRepo(context, api.target, repo) }),
    ...(branch !== undefined && { default_branch: branch }),
    ...budgetsOf(flags),
  };
  if (Object.keys(body).length === 0) {
    throw usage(
      "Nothing to change.",
      "Pass --name, --repo, --branch, --budget or --session-budget: svc projects edit --help",
    );
  }
  const { id } = await context.project(args["id-or-slug"]);
  const changed = await api.call<EditedProject>({
    method: "PATCH",
    path: path`/projects/${id}`,
    body,
    slow: true,
  });
  await context.out.result(changed, (view) =>
    sheet(
      [
        ["name", changed.name],
        ["slug", changed.slug],
        ["repository", changed.repo_url],
        ["default branch", changed.default_branch],
        ...budgetLines(changed),
      ],
      view,
    ),
  );
  if (changed.git_credential_dropped) {
    await context.out.note(
      "The stored credential was for the previous repository and is deleted. Next: svc projects git-credential",
    );
  }
};
