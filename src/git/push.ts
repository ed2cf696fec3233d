import { SvcError } from "../contract/errors.ts";
import type { Engine } from "./engine.ts";
import type { PushOutcome, PushRequest, RemoteRepository } from "./git.ts";
import type { Mirror } from "./mirror.ts";
import { openRemote, type Remote } from "./remote.ts";
import type { RunResult } from "./run.ts";
import { scrub } from "./scrub.ts";

/**
 * Moves a branch of the remote from one commit to another, if it is still at the first: the lease is the
 * compare-and-swap. Pushing again what arrived is `moved`, so a push whose answer was lost can be repeated.
 * @throws SvcError `repo_unreachable`, `invalid_repo_url`, `repo_not_allowed`: nothing was sent
 */
export async function pushBranch(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  request: PushRequest,
): Promise<PushOutcome> {
  const ref = `refs/heads/${request.branch}`;
  await using remote = await openRemote(engine.remote, repo);
  const result = await engine.network(repo.id, () =>
    engine.runner.run({
      args: [
        "push",
        "--porcelain",
        "--no-verify",
        "--no-follow-tags",
        "--no-signed",
        "--recurse-submodules=no",
        `--force-with-lease=${ref}:${request.from}`,
        "--",
        remote.url,
        `${request.to}:${ref}`,
      ],
      environment: { ...remote.environment, GIT_DIR: mirror.directory },
      deadlineMs: engine.limits.pushMs,
      memory: engine.limits.fetchMemory,
      outputBytes: engine.limits.outputBytes,
    }),
  );
  return readOutcome(engine, remote, ref, result);
}

/** What a host says about a refused push is kept up to this size. */
const REASON_MAX_BYTES = 2048;

/** The branch was elsewhere: found by git here, or by the host when it came to write the ref. */
const STALE_HERE = /\((?:stale info|fetch first|non-fast-forward|needs force)\)$/;
const STALE_THERE =
  /\((?:failed to update ref|cannot lock ref|.*unable to lock|failed to lock|reference already exists|incorrect old value provided|fetch first|non-fast-forward)[^)]*\)$/i;

/** Before anything was sent. */
const DENIED =
  /returned error: 403|permission (?:to \S+ )?denied|access denied|not allowed to push|read[- ]only|write access|service not enabled/i;
const NOT_REACHED =
  /could not resolve|failed to connect|couldn't connect|connection refused|connect to host \S+ port \d+|no route to host|network is unreachable|authentication failed|could not read (?:username|password)|unable to read askpass|returned error: (?:401|404|30\d)|repository (?:\S+ )?not found|does not appear to be a git repository|does not exist|host key verification failed|ssl certificate|dubious ownership|unable to update url base/i;

function readOutcome(engine: Engine, remote: Remote, ref: string, result: RunResult): PushOutcome {
  const clean = (text: string) =>
    scrub(text, remote.secrets, Object.values(engine.directories), REASON_MAX_BYTES);
  const line = new TextDecoder()
    .decode(result.stdout)
    .split("\n")
    .find((text) => /^[ +*=!-]\t/.test(text) && text.split("\t")[1]?.endsWith(`:${ref}`));
  const [flag = "", , summary = ""] = line?.split("\t") ?? [];
  // a line that promises success counts only when git then ended well
  if (flag && flag !== "!")
    return result.code === 0 ? { outcome: "moved" } : { outcome: "unknown", reason: unclear(result, clean) };
  if (flag === "!" && summary.startsWith("[rejected]")) {
    if (STALE_HERE.test(summary)) return { outcome: "stale" };
    return { outcome: "rejected", reason: clean(summary) };
  }
  if (flag === "!" && summary.startsWith("[remote rejected]")) {
    if (STALE_THERE.test(summary)) return { outcome: "stale" };
    return { outcome: "rejected", reason: clean(hostWords(summary, result.stderr)) };
  }
  // what the host says may hold any words; only git's own tell how far it came
  const words = clean(result.stderr.replace(/^remote:.*$/gm, ""));
  if (!flag && result.code !== null && !result.stopped) {
    if (DENIED.test(words)) return { outcome: "rejected", reason: clean(result.stderr) };
    if (NOT_REACHED.test(words)) {
      throw new SvcError(
        "repo_unreachable",
        `The repository at ${remote.place} could not be reached: ${words.split("\n").at(-1) ?? ""}`,
      );
    }
  }
  return { outcome: "unknown", reason: unclear(result, clean) };
}

/** git's own reason and the lines that the host sent along. */
function hostWords(summary: string, stderr: string): string {
  const reason = summary.replace(/^\[remote rejected\] /, "").replace(/^\((.*)\)$/, "$1");
  const lines = stderr.split(/[\r\n]/).filter((line) => /^(?:remote|ERROR|fatal): ?/.test(line));
  const said = lines.map((line) => line.replace(/^(?:remote|ERROR|fatal): ?/, "").trimEnd()).filter(Boolean);
  return [reason, ...said].filter(Boolean).join("\n");
}

function unclear(result: RunResult, clean: (text: string) => string): string {
  if (result.stopped) return "The push was stopped before its answer came.";
  return clean(result.stderr) || "The connection ended before the answer came.";
}
