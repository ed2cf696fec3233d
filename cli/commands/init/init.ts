import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { findRepository } from "../../git-branch.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/init.ts";
import { type Detected, detect } from "./detect/detect.ts";
import { findDevcontainer, look } from "./detect/look.ts";
import { inspect } from "./inspect.ts";
import { skillFiles, toolFiles } from "./local-agents.ts";
import { type Planned, plan } from "./plan.ts";
import { replacer } from "./replace.ts";
import { foundText, nextSteps, report } from "./report.ts";
import { MANIFEST, projectFiles, type ScaffoldFile } from "./scaffold.ts";
import { writeAll } from "./write-all.ts";

/** Spec 4.5. svc.toml is read only at the top of a repository, so a run below it sets up the top folder. */
export const init: Handler<typeof table.init> = async (context, { flags }) => {
  requireNoSandbox(context, "svc init does not run in a sandbox.");
  const { system, out } = context;
  const repository = await findRepository(system.cwd);
  const root = await realpath(repository?.folder ?? system.cwd);
  const isBelow = repository !== null && root !== (await realpath(system.cwd));
  if (isBelow) await out.note(`This folder is in the repository ${root}, which is set up instead.`);
  const there = await inspect(root, MANIFEST, "");
  const detected = detect(await look(root), await findDevcontainer(root));
  const files = [
    ...(await scaffold(context, basename(root), detected, there.state === "other" ? there.text : "")),
    ...(await chosenTools(context, root, flags)),
  ];
  const planned = await plan(root, files, replacer(context, flags));
  if (!flags["dry-run"]) await writePlanned(planned);
  await report(context, root, planned, flags["dry-run"], detected);
  await out.note(foundText(detected));
  await out.note(nextSteps({ planned, isBelow, isRepository: repository !== null }));
};

const LIST = new Intl.ListFormat("en-GB", { type: "conjunction" });

/** The files that give svc's tools to the coding agents on this machine, if the person wants that. */
async function chosenTools(
  context: Context,
  root: string,
  { mcp, yes, "dry-run": dryRun }: { mcp: boolean; yes: boolean; "dry-run": boolean },
): Promise<ScaffoldFile[]> {
  const files = await toolFiles(context.system);
  if (mcp) return files;
  const found = await Promise.all(files.map(({ path, text }) => inspect(root, path, text)));
  const missing = files.filter((_, index) => found[index]?.state === "missing");
  if (missing.length === 0 || yes || dryRun || !context.canAsk()) return [];
  const { confirm } = await import("../../prompt.ts");
  const [agents, paths] = [missing.flatMap((file) => file.for), missing.map(({ path }) => path)];
  const question = `Let ${LIST.format(agents)} start sessions and read change requests with svc? Adds ${LIST.format(paths)}.`;
  return (await confirm(question)) ? missing : [];
}

/** A sandbox belongs to a project, which is set up elsewhere. @throws CliError `usage` */
export function requireNoSandbox({ sandbox }: Context, message: string): void {
  if (sandbox)
    throw usage(message, "Nothing is set up in a sandbox. `svc help sandbox` lists what works here.");
}

/**
 * The files of a project, and those for the coding agents on this machine.
 * @param detected what the repository needs
 * @param manifest the existing one, if any
 */
export async function scaffold(
  { system }: Context,
  name: string,
  detected: Detected,
  manifest = "",
): Promise<ScaffoldFile[]> {
  return [...projectFiles(name, manifest, detected), ...(await skillFiles(system))];
}

export async function writePlanned(planned: readonly Planned[]): Promise<void> {
  await writeAll(planned.flatMap(({ write }) => write ?? []));
}
