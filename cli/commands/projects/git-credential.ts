import type { GitCredentialBody, Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { readSecret } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { oneLine } from "../../text.ts";

export const credential: Handler<typeof table.credential> = async (context, { args, flags }) => {
  const { id } = await context.project(args["id-or-slug"]);
  const api = await context.api();
  const project = await api.call<Project>({ path: path`/projects/${id}` });
  const body: GitCredentialBody = { token: await readSecret(context, "-", "The credential") };
  if (flags.username !== undefined) body.username = flags.username;
  const call = {
    method: "PUT",
    path: path`/projects/${project.project_id}/git-credential`,
    body,
    slow: true,
  };
  await api.call(call);
  await context.out.result(
    { project_id: project.project_id, stored: true },
    () => `Stored the git credential of ${oneLine(project.name)}.\n`,
  );
};
