import { join } from "node:path";
import { gitEnvironment } from "../git/git.ts";
import { asAgent, type Children, signalGroup } from "../process/children.ts";
import { forEachChunk } from "../process/output.ts";
import type { Settings } from "../settings.ts";
import { SaveError } from "./save-error.ts";

export interface GitOptions {
  stdin?: Uint8Array;
  environment?: Readonly<Record<string, string>>;
  /** Called with each chunk of the output, which is then not in the result. */
  onOutput?: (bytes: Uint8Array) => void;
}

export interface GitResult {
  /** Null if a signal ended it. */
  code: number | null;
  output: Buffer;
  /** The beginning of stderr, in latin1. */
  errors: string;
}

/** Runs git in the workspace as the agent, since it reads the agent's files. */
export interface WorkspaceGit {
  /** @throws SaveError if the output is too large */
  git(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** The same, but fails unless git succeeds. @throws SaveError */
  must(what: string, args: readonly string[], options?: GitOptions): Promise<Buffer>;
  /** Runs a shell script. */
  script(text: string, args: readonly string[]): Promise<GitResult>;
  /** Starts git for the caller to read its output. */
  stream(args: readonly string[], options: GitOptions): ReturnType<Children["start"]>;
}

/** Half a million paths. */
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const ERRORS_MAX_BYTES = 64 * 1024;

/** No writes to the workspace's own folders, and speed rather than small packs. */
const CONFIG = [
  "core.splitIndex=false",
  "core.untrackedCache=false",
  "core.looseCompression=1",
  "core.bigFileThreshold=8m",
  "pack.compression=1",
  "pack.window=5",
  "pack.threads=1",
];

/** @param signal kills the running programs */
export function createWorkspaceGit(
  context: { settings: Settings; children: Children },
  signal: AbortSignal,
): WorkspaceGit {
  const { settings, children } = context;
  const environment = {
    ...gitEnvironment(settings, null),
    GIT_DIR: join(settings.workspace, ".git"),
    GIT_WORK_TREE: settings.workspace,
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
  };
  const words = ["git", ...CONFIG.flatMap((setting) => ["-c", setting])];

  return {
    git: (args, options = {}) => run([...words, ...args], options),
    async must(what, args, options = {}) {
      const { code, output, errors } = await run([...words, ...args], options);
      if (code !== 0) throw gitFailed(what, errors);
      return output;
    },
    script: (text, args) => run(["sh", "-c", text, "sh", ...args], {}),
    stream: (args, options) => start([...words, ...args], options),
  };

  function start(argv: readonly string[], options: GitOptions): ReturnType<Children["start"]> {
    signal.throwIfAborted();
    const child = children.start({
      ...asAgent(settings, argv),
      environment: { ...environment, ...options.environment },
      directory: settings.workspace,
      ...(options.stdin && { stdin: options.stdin }),
    });
    const end = () => signalGroup(child.pid, "SIGKILL");
    signal.addEventListener("abort", end);
    void child.exited.then(() => {
      signal.removeEventListener("abort", end);
      // processes that it left behind keep its pipes open
      end();
    });
    return child;
  }

  async function run(argv: readonly string[], options: GitOptions): Promise<GitResult> {
    const child = start(argv, options);
    const kept: Uint8Array[] = [];
    let bytes = 0;
    const keep = (part: Uint8Array) => {
      bytes += part.length;
      if (bytes <= OUTPUT_MAX_BYTES) kept.push(part);
      else signalGroup(child.pid, "SIGKILL");
    };
    const errors: Uint8Array[] = [];
    let errorBytes = 0;
    const life = { exited: child.exited, signal };
    await Promise.all([
      forEachChunk(child.stdout, life, options.onOutput ?? keep),
      forEachChunk(child.stderr, life, (part) => {
        errorBytes += part.length;
        if (errorBytes <= ERRORS_MAX_BYTES) errors.push(part);
      }),
      child.exited,
    ]);
    signal.throwIfAborted();
    if (bytes > OUTPUT_MAX_BYTES) throw new SaveError("There are more changed files than svc can save.");
    return {
      code: child.exitCode,
      output: Buffer.concat(kept),
      errors: Buffer.concat(errors).toString("latin1"),
    };
  }
}

const REASON_MAX = 300;

export function isDiskFull(errors: string): boolean {
  return /No space left on device|Disk quota exceeded/.test(errors);
}

/** The same message wherever the disk is found to be full. */
export const DISK_FULL = "the sandbox's disk is full.";

/** @param what could not be done; git's first error message follows it */
export function gitFailed(what: string, errors: string): SaveError {
  if (isDiskFull(errors)) return new SaveError(DISK_FULL);
  const line = errors.split("\n").find((text) => /^(?:fatal|error): /.test(text)) ?? errors.split("\n")[0];
  const words = Buffer.from(line ?? "", "latin1").toString();
  const reason = words.replace(/^\w+: /, "").slice(0, REASON_MAX) || "git ended without a reason";
  return new SaveError(`${what}: ${reason}.`);
}
