import type { Attachment } from "./attachment.ts";
import type { PermissionMode } from "./runtimes.ts";
import type { DaemonSetupStatus } from "./setup.ts";

/** The daemon's port in a sandbox (spec 8); `SVC_SERVICE_PORT` overrides it in a sandbox without its own network. */
export const DAEMON_PORT = 8000;
/** The agent runtime's port in a sandbox (spec 8), on 127.0.0.1. */
export const RUNTIME_PORT = 4096;

/** The daemon's exit status after it could not reach its server for too long: EX_TEMPFAIL of sysexits(3). */
export const ORPHANED_EXIT_CODE = 75;

/** The maximum size of a project's folder of agents, skills and tools as a tar: hundreds of times a large one. */
export const AGENT_CONFIG_MAX_BYTES = 16 * 1024 * 1024;
/** The response header with the commit of that folder. */
export const AGENT_CONFIG_COMMIT = "X-Svc-Commit";

export const RUNTIME_STATES = ["starting", "ok", "down", "failed"] as const;
export type RuntimeState = (typeof RUNTIME_STATES)[number];

/** The state of the clone: waiting or running, done, or failed and retried. */
export const CLONE_STATES = ["cloning", "ok", "failed"] as const;

/** The ref that keeps a session's unpushed work (contract: Sessions, sandboxes, proxy). */
export function savedRef(sessionId: string): string {
  return `refs/svc/saved/${sessionId}`;
}

/** The app that a daemon builds and runs: `SVC_APP`, as JSON. */
export interface DaemonApp {
  slug: string;
  /** The full id of the commit to deploy. */
  commit: string;
  /** Relative to the repository's root; `.` is the root. */
  rootPath: string;
  /** Shell commands, run in `rootPath`. */
  build: string | null;
  run: { command: string; port: number } | null;
  /** The path that must return a 2xx status; null: any status below 500 of `/`. */
  healthPath: string | null;
  /** The folder below `rootPath` that the build writes the site to. */
  output: string | null;
  env: Readonly<Record<string, string>>;
  /** The secrets of the build command, which does not get those of the app. */
  buildSecrets: Readonly<Record<string, string>>;
  /** A check to run once instead of an app; absent: an app. */
  check?: DaemonCheck;
}

/** A shell command whose exit status is the result of a check. Its secrets are those of the sandbox. */
export interface DaemonCheck {
  name: string;
  command: string;
  timeoutMs: number;
}

/** How the command of a check ended. */
export interface DaemonCheckResult {
  /** Null: a signal ended it, or it exceeded its time limit. */
  exit_code: number | null;
  /** Such as `SIGKILL`; null: none. */
  signal: string | null;
  timed_out: boolean;
  duration_ms: number;
}

/** The stages of a deployed app; `built`: the site can be copied from the sandbox. */
export const APP_STAGES = ["building", "starting", "running", "built"] as const;

/** The response of `GET /svc/health`, always with status 200 (contract: Sessions, sandboxes, proxy). */
export interface DaemonHealth {
  daemon: "ok";
  /** ISO 8601, by the clock of the sandbox, which the runtime uses too. */
  time: string;
  /** `down`: it exited and is being restarted; `failed`: a restart is not expected to help. */
  runtime: RuntimeState;
  uptime_s: number;
  /** Milliseconds of processor time of the processes in a session's sandbox, except the daemon: it grows while a start goes on. */
  worked_ms?: number;
  runtime_pid: number | null;
  /** Clone URL, without credentials. */
  repo: string;
  branch: string;
  /** The commit that is checked out; null before the clone exists. */
  commit: string | null;
  clone: (typeof CLONE_STATES)[number];
  /** Whether the agent is working. */
  busy: boolean;
  /** The id of the session's conversation in the runtime; null before it exists, or while the runtime is not ready. */
  conversation: string | null;
  /** ISO 8601; the time of the last request to the sandbox or of the agent's last activity. */
  active_at: string;
  /** The unpushed work that this daemon saved last; null: none. */
  saved: { commit: string; at: string } | null;
  /** The commit of saved work that was restored from an earlier sandbox; absent: none. */
  restored?: string;
  /** Why work cannot be saved, or was not restored, as a sentence. */
  save_problem?: string;
  /** Only with a setup command, once the repository is cloned. */
  setup?: DaemonSetupStatus;
  /** Only for a deployed app. */
  app?: { stage: (typeof APP_STAGES)[number] };
  /** Only for a check; null while its command runs. */
  check?: DaemonCheckResult | null;
  error?: {
    /** The part that failed. */
    kind: "clone" | "runtime" | "config" | "build" | "app";
    /** A sentence without credentials. */
    message: string;
    /** Whether a retry cannot help, such as for a refused credential or a missing branch. */
    permanent: boolean;
  };
}

/** Body of `POST /svc/exec`: a command of a person. */
export interface DaemonExec {
  exec_id: string;
  /** Only this user may attach to it. */
  user_id: string;
  /** The program and its arguments; empty: a shell. */
  command: readonly string[];
  /** The size of its terminal; null: it has pipes. */
  terminal: { cols: number; rows: number } | null;
}

/** Where a client attaches to a command in a sandbox, by a WebSocket. */
export function execPath(execId: string): string {
  return `/svc/exec/${execId}`;
}

/**
 * Body of `POST /svc/workspace`: what to read of the workspace. Paths are bytes in base64, relative to it. The response is
 * one line of JSON, which the bytes of a file or a patch follow.
 */
export type DaemonWorkspace =
  | { read: "folder"; path: string }
  /** The bytes from `from` to `to`, both included; null: to the end. */
  | { read: "file"; path: string; from: number; to: number | null }
  | { read: "changes"; default_branch: string }
  /** @param path what the patch is limited to; null: all */
  | { read: "patch"; default_branch: string; path: string | null };

/** The first line of the response, if there is nothing to read. */
export interface DaemonNotRead {
  error: "not_found" | "not_a_folder" | "not_a_file" | "unreadable" | "failed";
}

/** Entries of a folder: name in base64, type and size, and the number of those that are left out. */
export interface DaemonFolder {
  entries: [name: string, type: string, size: number | null][];
  more: number;
}

/** The first line before the bytes of a file: its size, and the part that follows, `to` excluded. */
export interface DaemonFilePart {
  size: number;
  from: number;
  to: number;
}

/** The changes of the workspace; `lines` is null for a binary file. Paths are in base64. */
export interface DaemonChanges {
  base: string | null;
  head: string | null;
  version: string;
  files: [path: string, status: string, lines: [added: number, removed: number] | null][];
  more: number;
}

/** The first line before a patch: the number of changed files that are not in it. */
export interface DaemonPatch {
  omitted: number;
}

/** Body of `POST /svc/env`: all secrets of the project, by name. */
export interface DaemonEnv {
  revision: string;
  env: Readonly<Record<string, string>>;
}

/** What the agent of a session works with; null: its own. Body of `POST /svc/choice`. */
export interface AgentChoice {
  model: string | null;
  agent: string | null;
  mode: PermissionMode;
  /** How long the model thinks, in the words of the model. */
  effort: string | null;
}

/** What a runtime offers to choose from. */
export interface RuntimeChoices {
  /** Its own models, with their providers. */
  models: { id: string; name: string; efforts: string[] }[];
  /** Whether it can use the models of svc's gateway, which it does not list. */
  gateway: boolean;
  agents: { name: string; description: string | null }[];
  modes: PermissionMode[];
}

/** Body of `POST /svc/prompt`. */
export interface DaemonPromptBody {
  prompt_id: string;
  text: string;
  attachments?: readonly Attachment[];
  /** What it is answered with; absent: as the one before. */
  choice?: AgentChoice;
  /** Whether to wait until the prompt has ended, for a few seconds at most. */
  wait?: boolean;
}

export const DAEMON_PROMPT_STATES = ["running", "answered", "failed", "aborted", "interrupted"] as const;

/** The state of a prompt that was delivered to the runtime. */
export interface DaemonPrompt {
  prompt_id: string;
  state: (typeof DAEMON_PROMPT_STATES)[number];
  /** Why it was not answered, as a sentence; null while it runs and when it was answered. */
  error: string | null;
}
