import { isObject } from "./json.ts";

/** The setup command of a session's sandbox: `SVC_SETUP`, as JSON. */
export interface DaemonSetup {
  /** A shell command, run in the workspace before the agent starts. */
  command: string;
  timeoutMs: number;
  /** Whether svc may have kept what the command adds, or may keep it: then it decides whether the command runs. */
  isKept: boolean;
}

/**
 * `waiting`: svc decides whether the command runs; `running`: it has not ended; `keeping`: svc reads what it has added;
 * `restored`: it did not run, since svc had kept what it adds.
 */
const SETUP_STATES = ["waiting", "running", "keeping", "ok", "failed", "restored"] as const;

/** The setup in the daemon's health. */
export interface DaemonSetupStatus {
  state: (typeof SETUP_STATES)[number];
  /** Why it failed, such as `exit 1`; null unless `failed`. */
  problem: string | null;
  /** The last lines of the output of a command that failed. */
  output: readonly string[];
  /** While it is `waiting`. */
  checkout?: SetupCheckout;
}

/** What the command finds. */
export interface SetupCheckout {
  commit: string;
  /** Whether the workspace is as in the commit. */
  isClean: boolean;
  /** Changes whenever a lockfile does. */
  lockfiles: string;
}

/** How the setup of a session ended. */
export const SETUP_RESULTS = ["ok", "failed", "restored"] as const;

export function isSetupOver({ state }: DaemonSetupStatus): boolean {
  return SETUP_RESULTS.some((each) => each === state);
}

/** The time limit of the command: the default, in minutes. */
export const SETUP_MINUTES = 15;
/** Lines and characters of a line of the output that are kept of a command that failed. */
export const SETUP_OUTPUT = { lines: 20, characters: 500 } as const;
/** The most that svc keeps of one command, in bytes. */
export const SETUP_KEPT_MAX_BYTES = 2 * 1024 ** 3;

/** What svc does while a setup waits: the last parts of the daemon's routes, `POST` but for `files`. */
export const SETUP_VERBS = ["run", "run-and-keep", "restore", "files"] as const;
export type SetupVerb = (typeof SETUP_VERBS)[number];

export function setupPath(verb: SetupVerb): string {
  return `/svc/setup/${verb}`;
}

/**
 * The files that say what a setup command installs, in any folder: lockfiles, files with the same task where a tool has no
 * lockfile, and versions of tools.
 */
export const LOCKFILES = [
  ...[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
  ],
  ...[
    "requirements*.txt",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "pdm.lock",
    "conda-lock.yml",
    "environment.yml",
  ],
  ...["go.sum", "go.work.sum", "Cargo.lock", "Gemfile.lock", "composer.lock", "mix.lock", "pubspec.lock"],
  ...[
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "gradle.lockfile",
    "libs.versions.toml",
    "packages.lock.json",
  ],
  ...[
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".java-version",
    ".tool-versions",
    "mise.toml",
  ],
  ...["rust-toolchain", "rust-toolchain.toml", "global.json", ".npmrc", ".yarnrc.yml"],
] as const;

/** Whether a value of a sandbox, which is not trusted, is a status. */
export function isSetupStatus(value: unknown): value is DaemonSetupStatus {
  if (!isObject(value)) return false;
  const { state, problem, output, checkout } = value;
  return (
    SETUP_STATES.some((each) => each === state) &&
    (problem === null || isShort(problem)) &&
    Array.isArray(output) &&
    output.length <= SETUP_OUTPUT.lines &&
    output.every(isShort) &&
    (checkout === undefined || isCheckout(checkout))
  );
}

function isCheckout(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { commit, isClean, lockfiles } = value;
  return isShort(commit) && typeof isClean === "boolean" && isShort(lockfiles);
}

const isShort = (value: unknown): boolean =>
  typeof value === "string" && value.length <= SETUP_OUTPUT.characters;
