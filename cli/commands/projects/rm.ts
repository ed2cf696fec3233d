import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { usage } from "../../failure.ts";
import { findLink } from "../../link.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { oneLine } from "../../text.ts";

export const rm: Handler<typeof table.rm> = async (context, { args, flags }) => {
  const { out } = context;
  const { id } = await context.project(args["id-or-slug"]);
  if (!flags.yes && !context.canAsk()) throw usage("Deleting a project needs --yes without a terminal.");
  const api = await context.api();
  const project = await api.call<Project>({ path: path`/projects/${id}` });
  const { project_id, slug, name } = project;
  if (!flags.yes) {
    const { confirmByName } = await import("../../prompt.ts");
    await confirmByName(`This deletes ${name} with all its change requests.`, slug);
  }
  await api.call({ method: "DELETE", path: path`/projects/${project_id}` });
  await out.result(
    { project_id, slug, deleted: true },
    () => `Deleted ${oneLine(name)} (${oneLine(slug)}).\n`,
  );
  const found = await findLink(context.system.cwd).catch(() => null);
  if (found?.link.project_id === project_id)
    await out.note(`${found.path} still links it: svc projects unlink`);
};
