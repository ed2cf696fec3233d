import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { gitIn } from "../../git.ts";
import { oneLine } from "../../text.ts";
import type { Steps } from "./steps.ts";
import { readWorkTree, type WorkTree } from "./work-tree.ts";

/**
 * The repository around the working directory, or a new one here after a confirmation.
 * @throws CliError `usage` without a terminal, and as `readWorkTree`.
 */
export async function openWorkTree(
  context: Context,
  steps: Steps,
  { yes, commit }: { yes: boolean; commit: boolean },
): Promise<WorkTree> {
  const { system } = context;
  const found = await readWorkTree(system);
  if (found) return found;
  const folder = oneLine(system.cwd);
  const mayAsk = context.canAsk() && !yes;
  if (!mayAsk && !(commit && (yes || steps.dryRun))) {
    throw usage(
      `${folder} is not in a git repository.`,
      "Run `git init` and commit your files, or pass --yes --commit for both.",
    );
  }
  if (mayAsk && !steps.dryRun) await askFor(`${folder} is not in a git repository. Create one here?`);
  const branch = await firstBranch(context);
  await steps.take(`make ${folder} a git repository`, () =>
    gitIn(system, system.cwd).output("-c", `init.defaultBranch=${branch}`, "init", "--quiet"),
  );
  return (await readWorkTree(system)) ?? newWorkTree(context, branch);
}

/** The user's `init.defaultBranch`, else `main`, the server's default. */
async function firstBranch({ system }: Context): Promise<string> {
  const { stdout } = await gitIn(system, system.cwd).run("config", "--get", "init.defaultBranch");
  return stdout.trim() || "main";
}

/** The work tree that a dry run assumes. */
function newWorkTree({ system }: Context, branch: string): WorkTree {
  return {
    git: gitIn(system, system.cwd),
    root: system.cwd,
    branch,
    commit: null,
    hasUpstream: false,
    changes: [{ letter: "?", path: "./" }],
    isShallow: false,
    remotes: [],
    unfinished: null,
  };
}

/** @throws CliError `cancelled` for no. */
export async function askFor(question: string): Promise<void> {
  const { confirm } = await import("../../prompt.ts");
  if (!(await confirm(question))) throw new CliError("cancelled", "Cancelled; nothing was changed.");
}
