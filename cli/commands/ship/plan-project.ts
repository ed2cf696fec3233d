import { basename } from "node:path";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import type { Manifest } from "../../../src/contract/manifest/manifest.ts";
import type { CreateProjectBody } from "../../../src/contract/project.ts";
import type { Api } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { identify } from "../../identity.ts";
import { oneLine, shellWord } from "../../text.ts";
import { askFor } from "./open-work-tree.ts";
import { gatewayRemote } from "./remote.ts";
import type { WorkTree } from "./work-tree.ts";

interface Wishes {
  name: string | undefined;
  account: string | undefined;
  yes: boolean;
  "dry-run": boolean;
}

/**
 * What a first run is to make, once a person agrees. Its default branch is the branch that is shipped.
 * @throws CliError `git` for a branch or a clone that cannot begin a repository, `usage` without a person or --yes.
 */
export async function planProject(
  context: Context,
  api: Api,
  tree: WorkTree,
  manifest: Manifest | null,
  wishes: Wishes,
): Promise<CreateProjectBody> {
  const name = projectName(wishes.name ?? manifest?.project.name ?? undefined, tree);
  await requireBeginning(tree, name);
  // Whether there is a name for its remote has to be known before there is a project.
  gatewayRemote(api.target.url, null, tree.remotes);
  const body: CreateProjectBody = { name, default_branch: tree.branch };
  const mustAsk = !wishes.yes && !wishes["dry-run"];
  if (mustAsk && !context.canAsk()) {
    throw usage(
      "This repository has no project yet, and making one has to be confirmed.",
      "Pass --yes to make one, or link an existing one with `svc projects link`.",
    );
  }
  const account = wishes.account ?? (mustAsk ? await askForAccount(api) : undefined);
  if (account !== undefined) body.account_id = account;
  if (mustAsk) {
    await askFor(`Make the project ${name} on ${api.target.name}, and push ${tree.branch} to it?`);
  }
  return body;
}

function projectName(given: string | undefined, tree: WorkTree): string {
  if (given !== undefined) return given;
  const name = basename(tree.root).slice(0, NAME_MAX);
  if (/[\p{L}\p{N}]/u.test(name)) return name;
  throw usage("The folder's name will not do as that of a project.", "Pass --name <name>.");
}

async function requireBeginning({ git, branch, isShallow }: WorkTree, name: string): Promise<void> {
  if (isShallow) {
    throw new CliError("git", "This is a shallow clone: a new repository would lack its older commits.", {
      hint: "Fetch them first with `git fetch --unshallow`.",
    });
  }
  const others = await git.ask(
    "for-each-ref",
    "--format=%(refname:strip=2)",
    "refs/heads/main",
    "refs/heads/master",
  );
  const usual = others.stdout.split("\n").filter((other) => other !== "");
  const [first] = usual;
  if (first === undefined || usual.includes(branch)) return;
  throw new CliError(
    "git",
    `The first run pushes the default branch, and this is ${oneLine(branch)} where ${first} exists.`,
    {
      hint: `Ship ${first} first: \`git switch ${first}\`. To make this one the default branch: svc projects new --link --name ${shellWord(oneLine(name))} --branch ${shellWord(oneLine(branch))}`,
    },
  );
}

/** Asked for only where there are several; otherwise the server knows. */
async function askForAccount(api: Api): Promise<string | undefined> {
  const { accounts } = await identify(api);
  if (accounts.length < 2) return undefined;
  const { choose } = await import("../../prompt.ts");
  return choose(
    "Which account is the project for?",
    accounts.map(({ account_id, name, role }) => ({ value: account_id, label: name, hint: role })),
    api.target.accountId,
  );
}
