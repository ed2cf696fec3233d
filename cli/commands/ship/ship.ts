import { existsSync } from "node:fs";
import type { Project } from "../../../src/contract/project.ts";
import { notSignedIn } from "../../api-failure.ts";
import { usage } from "../../failure.ts";
import { linkPath } from "../../link.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/ship.ts";
import { displayUrl, oneLine, shellWord } from "../../text.ts";
import { ignoreLink } from "../projects/ignore-link.ts";
import { writeLink } from "../projects/link.ts";
import { commitOrReport, requireCommits } from "./commit.ts";
import { checkManifest } from "./manifest.ts";
import { openWorkTree } from "./open-work-tree.ts";
import { planProject } from "./plan-project.ts";
import { createProject, findProject } from "./project.ts";
import { push, requireDefaultBranch } from "./push.ts";
import type { PushRemote } from "./remote.ts";
import { setUp } from "./set-up.ts";
import { makeSteps, type Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/** The manifest's path for a project that does not exist yet. */
const MANIFEST = "svc.toml";

export const ship: Handler<typeof table.ship> = async (context, { flags }) => {
  if (flags.message !== undefined && !flags.commit) throw usage("--message requires --commit.");
  const { out } = context;
  const steps = makeSteps(flags["dry-run"]);
  const api = await context.api();
  const { target } = api;
  if (target.token === undefined) throw notSignedIn(target);

  const before = await openWorkTree(context, steps, flags);
  const found = await findProject(context, api, before);
  const manifest = await checkManifest(
    context,
    before,
    found?.project.manifest_path ?? MANIFEST,
    flags.commit,
  );
  requireCommits(before, flags);
  const plan = found ? null : await planProject(context, api, before, manifest, flags);

  if (!steps.dryRun && existsSync(linkPath(before.root))) await ignoreLink(before.root);
  const tree = await commitOrReport(context, steps, before, flags);
  if (found && !found.isLinked) {
    await steps.take("link this folder", () => writeLink(context, target, found.project, tree.root));
  }
  const created =
    plan &&
    (await steps.take(`create the project ${oneLine(plan.name)} on ${target.name}`, async () => {
      const project = await createProject(context, api, tree, plan);
      await out.note(`Created the project ${oneLine(project.name)} (${oneLine(project.slug)}).`);
      return project;
    }));
  const project = found?.project ?? created;
  const remote = await setUp(context, steps, target, tree, project);
  if (project) await requireDefaultBranch(steps, tree, remote, project);
  const pushed = await push(context, steps, target, tree, remote);

  const answer = {
    project_id: project?.project_id ?? null,
    project_slug: project?.slug ?? null,
    created: plan !== null,
    remote: remote.name,
    remote_url: remote.url === null ? null : displayUrl(remote.url),
    branch: tree.branch,
    commit_sha: tree.commit,
    pushed,
    dry_run: steps.dryRun,
  };
  await out.result(answer, () => outcome(steps, tree, remote, pushed));
  if (project && tree.branch !== project.default_branch) await out.note(nextStep(tree, project));
};

function outcome(
  { dryRun, planned }: Steps,
  { branch, commit }: WorkTree,
  { name, url }: PushRemote,
  pushed: boolean,
) {
  const what = `${oneLine(branch)}${commit === null ? "" : ` (${commit.slice(0, 8)})`}`;
  const to = `${oneLine(name)}${url === null ? "" : `, ${displayUrl(url)}`}`;
  if (!dryRun) return pushed ? `Pushed ${what} to ${to}\n` : `Nothing to push: ${what} is already on ${to}\n`;
  const last = pushed ? `push ${oneLine(branch)} to ${to}` : `push nothing: ${what} is already on ${to}`;
  return [...planned, last].map((step) => `Would ${step}\n`).join("");
}

/** Other branches reach the default branch only through change requests. */
function nextStep({ branch }: WorkTree, { default_branch }: Project): string {
  return `To propose it for ${oneLine(default_branch)}: svc cr open --title "…" --head ${shellWord(oneLine(branch))}`;
}
