import type { Project } from "../../../src/contract/project.ts";
import { notSignedIn } from "../../api-failure.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/ship.ts";
import { oneLine, shellWord } from "../../text.ts";
import { writeLink } from "../projects/link.ts";
import { commitOrTell, requireCommits } from "./commit.ts";
import { checkManifest } from "./manifest.ts";
import { openWorkTree } from "./open-work-tree.ts";
import { planProject } from "./plan-project.ts";
import { findProject, makeProject } from "./project.ts";
import { push, requireDefaultBranch } from "./push.ts";
import { displayUrl, type Wanted } from "./remote.ts";
import { setUp } from "./set-up.ts";
import { makeSteps, type Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/** Where the manifest of a project is that is not made yet. */
const MANIFEST = "svc.toml";

export const ship: Handler<typeof table.ship> = async (context, { flags }) => {
  if (flags.message !== undefined && !flags.commit) throw usage("--message is that of --commit: pass both.");
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

  const tree = await commitOrTell(context, steps, before, flags);
  if (found && !found.isLinked) {
    await steps.take("link this folder", () => writeLink(context, target, found.project, tree.root));
  }
  const made =
    plan &&
    (await steps.take(`make the project ${oneLine(plan.name)} on ${target.name}`, async () => {
      const project = await makeProject(context, api, tree, plan);
      await out.note(`Made the project ${oneLine(project.name)} (${oneLine(project.slug)}).`);
      return project;
    }));
  const project = found?.project ?? made;
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
  { name, url }: Wanted,
  pushed: boolean,
) {
  const what = `${oneLine(branch)}${commit === null ? "" : ` (${commit.slice(0, 8)})`}`;
  const to = `${oneLine(name)}${url === null ? "" : `, ${displayUrl(url)}`}`;
  if (!dryRun) return pushed ? `Pushed ${what} to ${to}\n` : `Nothing to push: ${what} is on ${to}\n`;
  const last = pushed ? `push ${oneLine(branch)} to ${to}` : `push nothing: ${what} is on ${to}`;
  return [...planned, last].map((step) => `Would ${step}\n`).join("");
}

/** The default branch takes other branches by change requests only. */
function nextStep({ branch }: WorkTree, { default_branch }: Project): string {
  return `To bring it to ${oneLine(default_branch)}: svc cr open --title "…" --head ${shellWord(oneLine(branch))}`;
}
