import type { Project } from "../../src/contract/project.ts";
import { type Api, path } from "../api.ts";
import { CliError } from "../failure.ts";
import { dashboardOf, openPage } from "../open-page.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/browse.ts";
import { oneLine } from "../text.ts";
import { isReference, listOfBranch, readReference } from "./cr/reference.ts";

export const browse: Handler<typeof table.browseSpec> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const named = args["cr-or-branch"];
  const page = named === undefined ? await projectPage(api, id) : await crPage(api, id, named);
  await openPage(context, `${dashboardOf(context.system, api.target)}${page}`, flags["no-browser"]);
};

async function projectPage(api: Api, id: string): Promise<string> {
  const { project_id } = await api.call<Project>({ path: path`/projects/${id}` });
  return path`/projects/${project_id}`;
}

/** The page of a change request, by its number, its id or its branch. @throws CliError `not_found` */
async function crPage(api: Api, id: string, named: string): Promise<string> {
  const collection = path`/projects/${id}/change-requests`;
  if (isReference(named)) return `${collection}${path`/${readReference(named)}`}`;
  const [newest] = await listOfBranch(api, collection, named, "open");
  if (newest !== undefined) return `${collection}${path`/${newest.number}`}`;
  throw new CliError(
    "not_found",
    `There is no change request of the branch ${oneLine(named).slice(0, 100)}.`,
    {
      hint: "The dashboard has no pages for branches and files: `svc repo files` and `svc repo cat` show them.",
    },
  );
}
