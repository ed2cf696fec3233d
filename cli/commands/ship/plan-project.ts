import { basename } from "node:path";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import type { Manifest } from "../../../src/contract/manifest/manifest.ts";
import type { CreateProjectBody } from "../../../src/contract/project.ts";
import { accountId } from "../../account.ts";
import type { Api } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { identify } from "../../identity.ts";
import { oneLine, shellWord } from "../../text.ts";
import { askFor } from "./open-work-tree.ts";
import { gatewayRemote } from "./remote.ts";
import type { WorkTree } from "./work-tree.ts";

interface ProjectFlags {
  name: string | undefined;
  account: string | undefined;
  yes: boolean;
  "dry-run": boolean;
}

/**
 * The project that a first run creates, after a confirmation. Its default branch is the current branch.
 * @throws CliError `git` for a branch or a clone that cannot be pushed first, `usage` without a terminal or --yes.
 */
export async function planProject(
  context: Context,
  api: Api,
  tree: WorkTree,
  manifest: Manifest | null,
  flags: ProjectFlags,
): Promise<CreateProjectBody> {
  const name = projectName(flags.name ?? manifest?.project.name ?? undefined, tree);
  await requireInitialBranch(tree, name);
  // Checks that a name for its remote is free before the project is created.
  gatewayRemote(api.target.url, null, tree.remotes);
  const body: CreateProjectBody = { name, default_branch: tree.branch };
  const mustAsk = !flags.yes && !flags["dry-run"];
  if (mustAsk && !context.canAsk()) {
    throw usage(
      "This repository has no project yet, and creating one must be confirmed.",
      "Pass --yes to create one, or link an existing one with `svc projects link`.",
    );
  }
  const account =
    flags.account === undefined && mustAsk
      ? await askForAccount(api)
      : await accountId(context, flags.account);
  if (account !== undefined) body.account_id = account;
  if (mustAsk) {
    await askFor(`Create the project ${name} on ${api.target.name}, and push ${tree.branch} to it?`);
  }
  return body;
}

function projectName(given: string | undefined, tree: WorkTree): string {
  if (given !== undefined) return given;
  const name = basename(tree.root).slice(0, NAME_MAX);
  if (/[\p{L}\p{N}]/u.test(name)) return name;
  throw usage("The folder name is not a valid project name.", "Pass --name <name>.");
}

async function requireInitialBranch({ git, branch, isShallow }: WorkTree, name: string): Promise<void> {
  if (isShallow) {
    throw new CliError("git", "This is a shallow clone: a new repository would not have its older commits.", {
      hint: "Fetch them first with `git fetch --unshallow`.",
    });
  }
  const others = await git.run(
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
    `The first run pushes the default branch, but ${oneLine(branch)} is checked out and ${first} exists.`,
    {
      hint: `Ship ${first} first: \`git switch ${first}\`. To make this one the default branch: svc projects new --link --name ${shellWord(oneLine(name))} --branch ${shellWord(oneLine(branch))}`,
    },
  );
}

/** Prompts only if there are several accounts; otherwise the server chooses. */
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
