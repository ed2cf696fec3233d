import type { Project } from "../../../src/contract/project.ts";
import type { Context } from "../../context.ts";
import type { Target } from "../../target.ts";
import { displayUrl, oneLine } from "../../text.ts";
import { hasHelper, setHelper } from "./credential-helper.ts";
import { gatewayRemote, ownRemote, type PushRemote, setRemote } from "./remote.ts";
import type { Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/**
 * Configures the remote and the credential helper if needed, and reports it. A sandbox already has both; for a project on
 * another git host they are the user's.
 * @param project null for one that a dry run would create
 */
export async function setUp(
  context: Context,
  steps: Steps,
  target: Target,
  tree: WorkTree,
  project: Project | null,
): Promise<PushRemote> {
  if (project && (!project.managed || context.sandbox)) return ownRemote(project.repo_url, tree.remotes);
  const remote = gatewayRemote(target.url, project?.project_id ?? null, tree.remotes);
  if (remote.change) {
    const change = describe(remote, tree);
    const [add, added] = remote.change.from === null ? ["add", "Added"] : ["change", "Changed"];
    await steps.take(`${add} ${change}`, async () => {
      await setRemote(tree, remote);
      await context.out.note(`${added} ${change}.`);
    });
  }
  if (!(await hasHelper(context.system, tree.git, target.url))) {
    await steps.take(`configure svc as git's credential helper for ${target.name}`, () =>
      setHelper(context.system, tree.git, target.url),
    );
  }
  return remote;
}

function describe({ name, url }: PushRemote, { remotes }: WorkTree): string {
  const at = url === null ? "" : `: ${displayUrl(url)}`;
  const origin = remotes.find((remote) => remote.name === "origin");
  const stays = name === "svc" && origin ? ` (origin is unchanged: ${displayUrl(origin.url)})` : "";
  return `the remote ${oneLine(name)}${at}${stays}`;
}
