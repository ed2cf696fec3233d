import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { oneLine } from "../../text.ts";

export const unprotect: Handler<typeof table.unprotect> = async (context, { args: { branch } }) => {
  const { id } = await context.project();
  const api = await context.api();
  const changed = await api.call<Project>({
    method: "DELETE",
    path: path`/projects/${id}/protected/${branch}`,
  });
  await context.out.result(
    changed,
    () => `The branch ${oneLine(branch)} is no longer protected as a former default branch.\n`,
  );
};
