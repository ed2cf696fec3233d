import type { Project } from "../../../src/contract/project.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { gatewayUrl } from "../../gateway.ts";
import type { Target } from "../../target.ts";
import { oneLine, shellWord } from "../../text.ts";
import type { Wanted } from "./remote.ts";
import type { Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/** Seconds that a push may take: a gigabyte over a slow line. */
const PUSH_SECONDS = 3600;
/** What `git push --porcelain` says of one branch: how it went, from and to, and in what words. */
const REPORT = /^([ +\-*!=])\trefs\/heads\/\S+:refs\/heads\/\S+\t(.*)$/;
/** Git's own refusals that mean: the other side has commits that this one lacks. */
const BEHIND = /\((non-fast-forward|fetch first|needs force|stale info)\)/;
/** `git ls-remote --exit-code` found no such branch; anything else than this and 0 is no answer. */
const NOTHING_LISTED = 2;

/**
 * Pushes the branch to the branch of the same name, with git's progress on the terminal. A dry run asks the other side
 * too, unless something would have to be done before. Answers whether there is anything new.
 * @throws CliError `not_fast_forward`, `push_rejected` with the other side's words, `git`, `timeout`.
 */
export async function push(
  context: Context,
  steps: Steps,
  target: Target,
  tree: WorkTree,
  remote: Wanted,
): Promise<boolean> {
  if (steps.dryRun && steps.planned.length > 0) return true;
  const { out, globals } = context;
  const ref = `refs/heads/${tree.branch}`;
  const reports: string[] = [];
  const { code, words } = await tree.git.watch(
    [
      // The hint about it is svc's own.
      ...["-c", "advice.pushUpdateRejected=false", "push", "--porcelain"],
      ...(out.data.json || out.quiet ? ["--no-progress"] : []),
      ...(steps.dryRun ? ["--dry-run"] : tree.hasUpstream ? [] : ["--set-upstream"]),
      ...["--", remote.name, `${ref}:${ref}`],
    ],
    {
      hidden: out.data.json,
      seconds: globals.timeout ?? PUSH_SECONDS,
      env: environment(context, target, remote),
      takes(line) {
        const isReport = REPORT.test(line);
        if (isReport) reports.push(line);
        return isReport || line === "Done" || line.startsWith("To ");
      },
    },
  );
  const [, outcome, summary = ""] = REPORT.exec(reports.at(-1) ?? "") ?? [];
  if (code === 0) return outcome !== "=";
  throw refusal(tree.branch, remote.name, { code, words, summary: outcome === "!" ? summary : null });
}

/** For a gateway there is one credential, and svc has it: a question could only confuse. */
function environment(context: Context, target: Target, { url }: Wanted): Record<string, string> {
  if (!url?.startsWith(`${gatewayUrl(target.url)}/`))
    return context.canAsk() ? {} : { GIT_TERMINAL_PROMPT: "0" };
  const silent = { GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "" };
  // A token of the environment is for this host, also when --host said so; the helper has to know.
  return target.tokenSource === "config" ? silent : { ...silent, SVC_API_URL: target.url };
}

interface Refused {
  code: number;
  words: string;
  /** What is said of the branch; null when it did not come to that. */
  summary: string | null;
}

function refusal(branch: string, remote: string, { code, words, summary }: Refused): CliError {
  const [shown, to] = [oneLine(branch), oneLine(remote)];
  const said = words.trim() === "" ? "" : `\n${words.trim()}`;
  if (summary === null) {
    return new CliError("git", `${shown} was not pushed: git push ended with ${code}.${said}`, {
      hint: "Mend what git says, then run `svc ship` again: it goes on where it stopped.",
    });
  }
  if (BEHIND.test(summary)) {
    const pull = `git pull --rebase ${shellWord(to)} ${shellWord(shown)}`;
    return new CliError(
      "not_fast_forward",
      `${shown} was not pushed: ${to} has commits that you do not have.`,
      {
        hint: `Take them in with \`${pull}\`, then run \`svc ship\` again.`,
      },
    );
  }
  const reason = /\((.*)\)$/.exec(summary)?.[1] ?? summary;
  return new CliError(
    "push_rejected",
    `${shown} was not pushed. ${to} refused it: ${oneLine(reason)}${said}`,
  );
}

/**
 * A branch can only be merged into a default branch that is there.
 * @throws CliError `git` when a repository that svc hosts does not have it yet.
 */
export async function requireDefaultBranch(
  steps: Steps,
  tree: WorkTree,
  remote: Wanted,
  { managed, default_branch }: Project,
): Promise<void> {
  if (!managed || tree.branch === default_branch || (steps.dryRun && steps.planned.length > 0)) return;
  const wanted = `refs/heads/${default_branch}`;
  const { code } = await tree.git.ask("ls-remote", "--exit-code", "--heads", "--", remote.name, wanted);
  if (code !== NOTHING_LISTED) return;
  const [shown, to] = [oneLine(tree.branch), oneLine(default_branch)];
  throw new CliError(
    "git",
    `The project's default branch is ${to}, which is empty yet, and this is ${shown}.`,
    {
      hint: `Ship ${to} first: \`git switch ${shellWord(to)}\`, or, if this branch is to become it, \`git branch -m ${shellWord(to)}\`.`,
    },
  );
}
