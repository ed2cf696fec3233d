import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../../contract/errors.ts";
import type { PushOutcome, PushRequest, RemoteRepository } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import type { Engine } from "../run/engine.ts";
import { isTransient, SOON } from "../run/failure.ts";
import { redact } from "../run/redact.ts";
import type { RunResult } from "../run/run.ts";
import { openRemote, type Remote } from "./remote.ts";

/**
 * Moves a branch of the remote from one commit to another, if it is still at the first or still missing: the lease is the
 * compare-and-swap. Repeating a push that succeeded is `moved`, so a push whose answer was lost can be repeated.
 * @throws SvcError `repo_unreachable`, `invalid_repo_url`, `repo_not_allowed`: nothing was sent
 */
export async function pushBranch(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  request: PushRequest,
): Promise<PushOutcome> {
  const update = { ref: `refs/heads/${request.branch}`, from: request.from, to: request.to };
  await using remote = await openRemote(engine.remote, repo);
  const { outcomes } = await engine.network(repo.id, () =>
    pushRefs(engine, remote, [update], {
      environment: { GIT_DIR: mirror.directory },
      atomic: false,
      deadlineMs: engine.limits.pushMs,
      stillMs: engine.limits.pushStillMs,
    }),
  );
  return outcomes.get(update.ref) ?? { outcome: "unknown", reason: "The host said nothing." };
}

/**
 * Changes refs of a remote, each only from its expected value unless `anywhere` is set.
 * @returns the outcome of each, and other output of the host, redacted
 * @throws SvcError `repo_unreachable`: nothing was sent
 */
export async function pushRefs(
  engine: Engine,
  remote: Remote,
  updates: readonly RefUpdate[],
  options: PushOptions,
): Promise<{ outcomes: Map<string, PushOutcome>; said: string[] }> {
  const push = (refspecs: readonly string[], environment: Record<string, string>) =>
    engine.runner.run({
      args: argumentsOf(remote, updates, options, refspecs),
      environment: { ...remote.environment, ...environment },
      deadlineMs: options.deadlineMs,
      ...(options.stillMs !== undefined && { stillMs: options.stillMs }),
      memory: engine.limits.fetchMemory,
      outputBytes: engine.limits.outputBytes,
    });
  let result = await push(
    updates.map(({ ref, to }) => `${to ?? ""}:${ref}`),
    options.environment,
  );
  if (result.code !== 0 && AMBIGUOUS.test(ownWords(result)) && updates.every(({ to }) => to !== null))
    result = await withTemporaryRefs(engine, updates, options.environment, (environment) =>
      push([`${NAMES}*:refs/*`], environment),
    );
  const outcomes = new Map(
    updates.map(({ ref }) => [ref, readOutcome(engine, remote, ref, result)] as const),
  );
  const said = hostLines(result.stderr).map((line) =>
    redact(line, remote.secrets, Object.values(engine.directories), REASON_MAX_BYTES),
  );
  return { outcomes, said };
}

function argumentsOf(
  remote: Remote,
  updates: readonly RefUpdate[],
  options: PushOptions,
  refspecs: readonly string[],
): string[] {
  return [
    ...["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"],
    ...(options.atomic ? ["--atomic"] : []),
    ...(options.anywhere
      ? ["--force"]
      : updates.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ""}`)),
    ...["--", remote.url],
    ...refspecs,
  ];
}

const NAMES = "refs/push/";

/**
 * Git also matches the full name of a ref to the end of a longer one (`refs/heads/refs/heads/main`), and then pushes
 * neither; names from a pattern are exact. So the refs to push are written to a temporary repository with the same
 * objects.
 */
async function withTemporaryRefs<T>(
  engine: Engine,
  updates: readonly RefUpdate[],
  environment: PushOptions["environment"],
  work: (environment: PushOptions["environment"]) => Promise<T>,
): Promise<T> {
  const directory = join(engine.directories.temporary, `push-${crypto.randomUUID()}`);
  try {
    for (const part of ["objects", "refs"])
      await mkdir(join(directory, part), { recursive: true, mode: 0o700 });
    await writeFile(join(directory, "HEAD"), "ref: refs/heads/none\n");
    // the config contains the object format
    await copyFile(join(environment.GIT_DIR, "config"), join(directory, "config"));
    const names = updates.map(({ ref, to }) => `${to} ${NAMES}${ref.slice("refs/".length)}\n`);
    await writeFile(join(directory, "packed-refs"), names.join(""));
    const objects = { GIT_OBJECT_DIRECTORY: join(environment.GIT_DIR, "objects") };
    return await work({ ...objects, ...environment, GIT_DIR: directory });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface PushOptions {
  environment: Record<string, string> & { GIT_DIR: string };
  atomic: boolean;
  /** svc's own refs, which only svc moves. */
  anywhere?: boolean;
  deadlineMs: number;
  /** As `stillMs` of a run; absent: a host may run hooks for as long as the deadline. */
  stillMs?: number;
}

/** The most bytes kept of a host's reason for rejecting a push. */
const REASON_MAX_BYTES = 2048;

/** The branch had another value: detected by git here, or by the host when it wrote the ref. */
const STALE_HERE = /\((?:stale info|fetch first|non-fast-forward|needs force)\)$/;
const STALE_THERE =
  /\((?:failed to update ref|cannot lock ref|.*unable to lock|failed to lock|reference already exists|incorrect old value provided|fetch first|non-fast-forward)[^)]*\)$/i;

/** Nothing was sent. */
const AMBIGUOUS = /dst refspec \S+ matches more than one/;
const DENIED =
  /returned error: 403|permission (?:to \S+ )?denied|access denied|not allowed to push|read[- ]only|write access|service not enabled/i;
const NOT_REACHED =
  /could not resolve|failed to connect|couldn't connect|connection refused|connect to host \S+ port \d+|no route to host|network is unreachable|authentication failed|could not read (?:username|password)|unable to read askpass|returned error: (?:401|404|30\d)|repository (?:\S+ )?not found|does not appear to be a git repository|does not exist|host key verification failed|ssl certificate|dubious ownership|unable to update url base/i;

function readOutcome(engine: Engine, remote: Remote, ref: string, result: RunResult): PushOutcome {
  const clean = (text: string) =>
    redact(text, remote.secrets, Object.values(engine.directories), REASON_MAX_BYTES);
  const line = new TextDecoder()
    .decode(result.stdout)
    .split("\n")
    .find((text) => /^[ +*=!-]\t/.test(text) && text.split("\t")[1]?.endsWith(`:${ref}`));
  const [flag = "", , summary = ""] = line?.split("\t") ?? [];
  // a success counts only if git then exited with 0
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
  const words = clean(ownWords(result));
  if (!flag && result.code !== null && !result.stopped) {
    if (AMBIGUOUS.test(words)) return { outcome: "rejected", reason: sameEnd(ref) };
    if (DENIED.test(words)) return { outcome: "rejected", reason: clean(result.stderr) };
    if (NOT_REACHED.test(words)) {
      throw new SvcError(
        "repo_unreachable",
        `The repository at ${remote.label} could not be reached: ${words.split("\n").at(-1) ?? ""}`,
        {},
        isTransient(words) ? SOON : {},
      );
    }
  }
  return { outcome: "unknown", reason: unclear(result, clean) };
}

/** Without the host's output, which may contain any text: only git's own messages show how far the push got. */
function ownWords({ stderr }: RunResult): string {
  return stderr.replace(/^remote:.*$/gm, "");
}

/** Git also matches a full name to the end of a longer one, and pushes neither. */
function sameEnd(ref: string): string {
  return `the repository has another ref that ends in ${ref}, and git cannot tell the two apart. Delete that one on the git host (git push <host> :refs/heads/${ref}).`;
}

/** Git's reason and the lines of the host. */
function hostWords(summary: string, stderr: string): string {
  const reason = summary.replace(/^\[remote rejected\] /, "").replace(/^\((.*)\)$/, "$1");
  return [reason, ...hostLines(stderr)].filter(Boolean).join("\n");
}

function hostLines(stderr: string): string[] {
  const lines = stderr.split(/[\r\n]/).filter((line) => /^(?:remote|ERROR|fatal): ?/.test(line));
  return lines.map((line) => line.replace(/^(?:remote|ERROR|fatal): ?/, "").trimEnd()).filter(Boolean);
}

function unclear(result: RunResult, clean: (text: string) => string): string {
  if (result.stopped) return STOPPED;
  return clean(result.stderr) || ENDED;
}

const STOPPED = "The push was stopped before its answer came.";
const ENDED = "The connection ended before the answer came.";

/** Whether the reason of an unknown outcome is the connection or the host's health: another attempt may succeed. */
export function isLost(reason: string): boolean {
  return reason === STOPPED || reason === ENDED || isTransient(reason);
}
