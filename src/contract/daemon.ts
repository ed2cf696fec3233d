/** The daemon's port in a sandbox (spec 8); `SVC_SERVICE_PORT` says so where a sandbox has no network of its own. */
export const DAEMON_PORT = 8000;
/** The agent runtime's port in a sandbox (spec 8), on 127.0.0.1. */
export const RUNTIME_PORT = 4096;

/** The daemon's exit status when it has ended because its server was away: EX_TEMPFAIL of sysexits(3). */
export const ORPHANED_EXIT_CODE = 75;

/** What a project's folder of agents, skills and tools may have, as a tar: hundreds of times a large one. */
export const AGENT_CONFIG_MAX_BYTES = 16 * 1024 * 1024;
/** The header of the answer that has it, which says the commit that it is of. */
export const AGENT_CONFIG_COMMIT = "X-Svc-Commit";

export const RUNTIME_STATES = ["starting", "ok", "down", "failed"] as const;
export type RuntimeState = (typeof RUNTIME_STATES)[number];

/** Where the clone is: it waits or runs, is there, or failed and is tried again. */
export const CLONE_STATES = ["cloning", "ok", "failed"] as const;

/** Where the work of a session that is not pushed is kept (contract: Sessions, sandboxes, proxy). */
export function savedRef(sessionId: string): string {
  return `refs/svc/saved/${sessionId}`;
}

/** What the daemon of a deployed app is to build and run: `SVC_APP`, as JSON. */
export interface DaemonApp {
  slug: string;
  /** The full id of the commit to deploy. */
  commit: string;
  /** Relative to the repository's root; `.` is that. */
  rootPath: string;
  /** Commands, for a shell, in `rootPath`. */
  build: string | null;
  run: { command: string; port: number } | null;
  /** The folder below `rootPath` that the build leaves a site in. */
  output: string | null;
  env: Readonly<Record<string, string>>;
  /** The secrets of the build command, which has none of the app's. */
  buildSecrets: Readonly<Record<string, string>>;
}

/** How far the daemon of a deployed app has come; `built`: the site is there to be taken out. */
export const APP_STAGES = ["building", "starting", "running", "built"] as const;

/** What `GET /svc/health` answers, always with 200 (contract: Sessions, sandboxes, proxy). */
export interface DaemonHealth {
  daemon: "ok";
  /** ISO 8601: the sandbox's own clock, which is that of the runtime. */
  time: string;
  /** `down`: it ended and is started again; `failed`: starting it again is not expected to help. */
  runtime: RuntimeState;
  uptime_s: number;
  runtime_pid: number | null;
  /** Clone URL, without credentials. */
  repo: string;
  branch: string;
  /** What is checked out; null before the clone is there. */
  commit: string | null;
  clone: (typeof CLONE_STATES)[number];
  /** Whether a run of the agent's is under way. */
  busy: boolean;
  /** The session's one conversation in the runtime; null while there is none, or the runtime is not ready. */
  conversation: string | null;
  /** ISO 8601; when somebody last asked something of the sandbox, or a run was under way. */
  active_at: string;
  /** Work that is not pushed, as it was saved last by this daemon; null: there is none. */
  saved: { commit: string; at: string } | null;
  /** Saved work of an earlier sandbox that this one has brought back; absent: none. */
  restored?: string;
  /** Why work is not saved, or was not brought back: a sentence for a person. */
  save_problem?: string;
  /** Of a deployed app alone. */
  app?: { stage: (typeof APP_STAGES)[number] };
  error?: {
    /** What went wrong, of kinds that want different remedies. */
    kind: "clone" | "runtime" | "config" | "build" | "app";
    /** A sentence for a person, without credentials. */
    message: string;
    /** Whether trying again may help: a refused credential or a missing branch does not mend itself. */
    permanent: boolean;
  };
}

/** Body of `POST /svc/env`: the whole set of the project's secrets, by name. */
export interface DaemonEnv {
  revision: string;
  env: Readonly<Record<string, string>>;
}

/** Body of `POST /svc/prompt`. */
export interface DaemonPromptBody {
  prompt_id: string;
  text: string;
  /** Whether to wait, some seconds at most, until it is over. */
  wait?: boolean;
}

export const DAEMON_PROMPT_STATES = ["running", "answered", "failed", "aborted", "interrupted"] as const;

/** What has become of a prompt that the runtime was given. */
export interface DaemonPrompt {
  prompt_id: string;
  state: (typeof DAEMON_PROMPT_STATES)[number];
  /** A sentence for a person; null while it runs, and when it was answered. */
  error: string | null;
}
