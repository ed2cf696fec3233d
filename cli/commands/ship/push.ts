import type { Project } from "../../../src/contract/project.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { gatewayUrl } from "../../gateway.ts";
import type { Target } from "../../target.ts";
import { oneLine, shellWord } from "../../text.ts";
import type { PushRemote } from "./remote.ts";
import type { Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/** Timeout of a push in seconds: a gigabyte over a slow connection. */
const PUSH_SECONDS = 3600;
/** A branch in the output of `git push --porcelain`: the result, the refs and the summary. */
const REPORT = /^([ +\-*!=])\trefs\/heads\/\S+:refs\/heads\/\S+\t(.*)$/;
/** Git's rejections that mean that the remote has commits which are not local. */
const BEHIND = /\((non-fast-forward|fetch first|needs force|stale info)\)/;
/** The exit status of `git ls-remote --exit-code` without a match; other statuses except 0 are failures. */
const NOTHING_LISTED = 2;

/**
 * Pushes the branch to the remote branch of the same name, with git's progress on the terminal. A dry run contacts the remote
 * too, unless an earlier step is planned only. Returns whether anything was pushed.
 * @throws CliError `not_fast_forward`, `push_rejected` with the remote's message, `git`, `timeout`.
 */
export async function push(
  context: Context,
  steps: Steps,
  target: Target,
  tree: WorkTree,
  remote: PushRemote,
): Promise<boolean> {
  if (steps.dryRun && steps.planned.length > 0) return true;
  const { out, globals } = context;
  const ref = `refs/heads/${tree.branch}`;
  const reports: string[] = [];
  const { code, output } = await tree.git.watch(
    [
      // svc prints its own hint.
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
  throw rejection(tree.branch, remote.name, { code, output, summary: outcome === "!" ? summary : null });
}

function environment(context: Context, target: Target, { url }: PushRemote): Record<string, string> {
  if (url?.startsWith(`${gatewayUrl(target.url)}/`)) return gatewayEnvironment(target);
  return context.canAsk() ? {} : { GIT_TERMINAL_PROMPT: "0" };
}

/** For a gateway, svc provides the only credential: git must not prompt for one. */
export function gatewayEnvironment(target: Target): Record<string, string> {
  const silent = { GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "" };
  // A token in the environment is for this host, also with --host: the helper needs the address.
  return target.tokenSource === "config" ? silent : { ...silent, SVC_API_URL: target.url };
}

interface Rejection {
  code: number;
  output: string;
  /** The branch's summary; null if git did not get that far. */
  summary: string | null;
}

function rejection(branch: string, remote: string, { code, output, summary }: Rejection): CliError {
  const [shown, to] = [oneLine(branch), oneLine(remote)];
  const details = output.trim() === "" ? "" : `\n${output.trim()}`;
  if (summary === null) {
    return new CliError("git", `${shown} was not pushed: git push exited with status ${code}.${details}`, {
      hint: "Fix what git reports, then run `svc ship` again: it continues where it stopped.",
    });
  }
  if (BEHIND.test(summary)) {
    const pull = `git pull --rebase ${shellWord(to)} ${shellWord(shown)}`;
    return new CliError(
      "not_fast_forward",
      `${shown} was not pushed: ${to} has commits that you do not have.`,
      {
        hint: `Pull them with \`${pull}\`, then run \`svc ship\` again.`,
      },
    );
  }
  const reason = /\((.*)\)$/.exec(summary)?.[1] ?? summary;
  return new CliError(
    "push_rejected",
    `${shown} was not pushed. ${to} refused it: ${oneLine(reason)}${details}`,
  );
}

/**
 * A branch can only be merged into an existing default branch.
 * @throws CliError `git` if a repository that svc hosts does not have it yet.
 */
export async function requireDefaultBranch(
  steps: Steps,
  tree: WorkTree,
  remote: PushRemote,
  { managed, default_branch }: Project,
): Promise<void> {
  if (!managed || tree.branch === default_branch || (steps.dryRun && steps.planned.length > 0)) return;
  const wanted = `refs/heads/${default_branch}`;
  const { code } = await tree.git.run("ls-remote", "--exit-code", "--heads", "--", remote.name, wanted);
  if (code !== NOTHING_LISTED) return;
  const [shown, to] = [oneLine(tree.branch), oneLine(default_branch)];
  throw new CliError(
    "git",
    `The project's default branch ${to} has no commits yet, and the current branch is ${shown}.`,
    {
      hint: `Ship ${to} first: \`git switch ${shellWord(to)}\`, or rename this branch to it: \`git branch -m ${shellWord(to)}\`.`,
    },
  );
}
