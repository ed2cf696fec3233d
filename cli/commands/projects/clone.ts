import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { remoteUrl } from "../../gateway.ts";
import { gitFailed, gitIn } from "../../git.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/projects.ts";
import { oneLine, shellWord } from "../../text.ts";
import { helperOptions } from "../ship/credential-helper.ts";
import { gatewayEnvironment } from "../ship/push.ts";
import { writeLink } from "./link.ts";

/** Timeout of a clone in seconds: gigabytes over a slow connection. */
const CLONE_SECONDS = 3600;
/** A slug names the new folder, and is a server's. */
const FOLDER_NAME = /^[a-z0-9][a-z0-9_-]*$/i;

export const clone: Handler<typeof table.clone> = async (context, { args, flags }) => {
  const { system, out, globals } = context;
  const { id } = await context.project(args["id-or-slug"]);
  const api = await context.api();
  const project = await api.call<Project>({ path: path`/projects/${id}` });
  const folder = resolve(system.cwd, args.folder ?? folderOf(project));
  await requireEmpty(folder);
  const url = remoteUrl(api.target.url, project.project_id);
  const depth = flags.depth === undefined ? [] : [`--depth=${flags.depth}`, "--no-single-branch"];
  const { code, output } = await gitIn(system, system.cwd).watch(
    [
      ...["clone", ...(out.data.json || out.quiet ? ["--quiet"] : []), ...depth],
      ...[...helperOptions(system, api.target.url), "--", url, folder],
    ],
    {
      hidden: out.data.json,
      seconds: globals.timeout ?? CLONE_SECONDS,
      env: gatewayEnvironment(api.target),
    },
  );
  if (code !== 0) throw gitFailed("clone", code, output);
  await writeLink(context, api.target, project, folder);
  const cloned = { project_id: project.project_id, slug: project.slug, path: folder, remote: url };
  await out.result(cloned, () => `Cloned ${oneLine(project.name)} into ${oneLine(folder)}, and linked it.\n`);
  await out.note(`Next: cd ${shellWord(folder)}`);
};

function folderOf({ slug }: Project): string {
  if (FOLDER_NAME.test(slug)) return slug;
  throw usage("svc projects clone needs <folder>: the project's slug cannot be the name of a folder.");
}

/** Git refuses other folders too; after a request, and in other words. */
async function requireEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw new CliError("file", `${folder} cannot be read (${systemCode(error) ?? "unknown error"}).`);
  });
  if (entries.length === 0) return;
  throw new CliError("file", `${folder} exists, and is not empty. Nothing was cloned.`, {
    hint: "Name another folder after the project: `svc projects clone <project> <folder>`.",
  });
}
