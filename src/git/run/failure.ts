import { diskFull, isDiskFullMessage } from "../../contract/disk-full.ts";
import { SvcError } from "../../contract/errors.ts";
import { proxyOf } from "../../contract/proxy.ts";
import type { Remote } from "../remote/remote.ts";
import type { Engine } from "./engine.ts";
import { redact } from "./redact.ts";
import type { RunResult, Stop } from "./run.ts";

/** The mirror may be damaged and must be inspected (inspect.ts); if it is not, `failure` is the error for the caller. */
export class MirrorSuspect extends Error {
  override readonly name = "MirrorSuspect";
  readonly failure: SvcError;

  constructor(failure: SvcError) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The error for an object that is missing in a mirror although another object refers to it. */
export function objectMissing(): MirrorSuspect {
  return new MirrorSuspect(new SvcError("merge_engine_failed", "The copy of the repository is incomplete."));
}

/**
 * The error for a git that ended without a result.
 * @param doing such as "merging"
 */
export function engineFailure(engine: Engine, doing: string, result: RunResult): Error {
  const words = redact(result.stderr, [], Object.values(engine.directories));
  engine.log.warn(
    { doing, code: result.code, signal: result.signal, stopped: result.stopped, stderr: words },
    "git ended without a result",
  );
  if (result.stopped === "closing") return new SvcError("unavailable", "The server is shutting down.");
  if (isDiskFullMessage(words)) return diskFull();
  const failure = new SvcError(
    "merge_engine_failed",
    `Git gave no answer while ${doing}: ${reason(result)}.`,
  );
  return !result.stopped && result.code !== null && SUSPICIOUS.test(words)
    ? new MirrorSuspect(failure)
    : failure;
}

/** The reason for a failed fetch. */
export type FetchFailure = SvcError | MirrorSuspect;

/** The error for a failed fetch, which may also come from a damaged mirror. */
export function fetchFailure(engine: Engine, remote: Remote, result: RunResult): FetchFailure {
  const own = result.stderr.replace(REMOTE_LINES, "");
  if (isDiskFullMessage(own)) return diskFull();
  const failure = remoteFailure(engine, remote, result);
  return !result.stopped && SUSPICIOUS.test(own) ? new MirrorSuspect(failure) : failure;
}

/** The error for a failed request to a remote. */
export function remoteFailure(engine: Engine, remote: Remote, result: RunResult): SvcError {
  const words = redact(result.stderr, remote.secrets, Object.values(engine.directories), WORDS_MAX_BYTES);
  if (result.stopped === "closing") return new SvcError("unavailable", "The server is shutting down.");
  if (result.stopped) {
    return new SvcError(
      "repo_unreachable",
      `The repository at ${remote.label} could not be read: ${STOPS[result.stopped]}.`,
      {},
      result.stopped === "deadline" || result.stopped === "still" ? SOON : {},
    );
  }
  // the remote's environment has the proxies that git uses
  const proxy = proxyOf(remote.url, remote.environment);
  if (proxy && PROXY_FAULT.test(words)) {
    engine.log.warn({ proxy: proxy.address, variable: proxy.variable, stderr: words }, "the proxy failed");
    return new SvcError(
      "repo_unreachable",
      `The repository at ${remote.label} could not be read: the proxy that the server's ${proxy.variable} names cannot be reached, or it refuses this host.`,
    );
  }
  const why = faultOf(words) ?? lastLines(words);
  return new SvcError(
    "repo_unreachable",
    `The repository at ${remote.label} could not be read: ${why || "no reason was given"}.`,
    {},
    isTransient(words) ? SOON : {},
  );
}

/** Whether another attempt may succeed after this failure of a remote: the network, or the host, is out of order. */
export function isTransient(words: string): boolean {
  const fault = faultOf(words);
  return TRANSIENT.some(([, sentence]) => sentence === fault);
}

function faultOf(words: string): string | undefined {
  return [...PERMANENT, ...TRANSIENT].find(([pattern]) => pattern.test(words))?.[1];
}

const WORDS_MAX_BYTES = 1024;

const STOPS: Record<Stop, string> = {
  deadline: "it took too long",
  still: "the host did not answer, or stopped in the middle of its answer",
  output: "the answer was too large",
  memory: "it needed too much memory",
  disk: "the repository is too large",
  caller: "it was cancelled",
  closing: "the server is shutting down",
};

/** Output of the remote, as git shows it. */
const REMOTE_LINES = /^(?:remote:|fatal: remote error:).*$/gm;

/**
 * Messages of git (2.38 to 2.55) about missing or broken objects, packs or files of the repository. Git uses many of them
 * for remotes, too, so they are a reason to inspect the mirror, not proof of damage.
 */
const SUSPICIOUS =
  /corrupt|not a valid (?:commit|object) name|missing (?:blob|tree|commit|object)|bad (?:object|tree|sha1)|bad tree object|unable to (?:read|parse|find)|could not (?:read|parse|open)|not a git repository|failed to read object|garbage at end|inflate|packfile .* (?:cannot|does not match)|hash mismatch|index file .* (?:is too small|wrong)|not a tree object|unable to create temporary file|failed to parse/i;

/** Messages of curl (7.80 to 8.15). With a proxy, it is all that curl connects to. */
const PROXY_FAULT =
  /could not resolve proxy|failed to connect to|could ?n[o']t connect to server|connect tunnel failed|proxy connect aborted|from proxy/i;

/** Another attempt may succeed. */
export const SOON = { "Retry-After": "5" };

type Fault = readonly [pattern: RegExp, sentence: string];

const PERMANENT: readonly Fault[] = [
  [
    /dubious ownership/i,
    "it belongs to another user than the server's; make the server's user its owner or serve it over http or ssh",
  ],
  [
    /unable to update url base from redirection|redirect|returned error: 30\d|code 30\d/i,
    "it has moved; set the project's repository URL to its new address",
  ],
  [
    /authentication failed|could not read (?:username|password)|unable to read askpass|invalid credentials|returned error: 401/i,
    "the host asks for a credential or refused the one it was given",
  ],
  [/returned error: 403|permission denied|access denied/i, "the host refused access"],
  [
    /host key verification failed|remote host identification has changed/i,
    "the host's ssh key is not the one that is known",
  ],
  [
    /returned error: 404|repository not found|repository .* not found|does not appear to be a git repository|does not exist/i,
    "there is no repository at this address, or the credential does not open it",
  ],
  [
    /repository corruption on the remote side|did not send all necessary objects|^remote: (?:fatal|error): .*(?:unable to read|could not read|bad object|missing|corrupt)/im,
    "it lacks objects that its branches need; run git fsck in it and push what is missing",
  ],
  [/shallow/i, "it is a shallow copy; svc needs a repository with its whole history"],
  [/mismatched algorithms|unsupported hash|object.format/i, "it uses another object format than the mirror"],
];

/** Messages of curl, of the TLS libraries and of ssh, which git passes on. */
const TRANSIENT: readonly Fault[] = [
  // curl does not say whether a name does not exist or the resolver is away
  [/could not resolve host|temporary failure in name resolution/i, "the host could not be found"],
  [
    /connection refused|could ?n[o']t connect to server|failed to connect to|no route to host|network is unreachable/i,
    "the host cannot be reached",
  ],
  [/timed out|timeout was reached|returned error: 408/i, "the host did not answer in time"],
  [/returned error: 429|too many requests/i, "the host has had too many requests"],
  [/returned error: 5\d\d|internal server error|http code = 5\d\d/i, "the host reports an error of its own"],
  [
    /the remote end hung up|early eof|unexpected disconnect|empty reply|connection (?:was )?(?:reset|closed)|recv failure|send failure|tls connection was non-properly terminated|ssl_error_syscall/i,
    "the host closed the connection before its answer was complete",
  ],
];

function reason(result: RunResult): string {
  if (result.stopped) return STOPS[result.stopped];
  return result.signal ? `it was ended by ${result.signal}` : `it ended with status ${result.code}`;
}

function lastLines(words: string): string {
  const lines = words.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-3).join(" ").replace(/\.+$/, "");
}
