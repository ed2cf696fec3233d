import { isObject } from "./json.ts";

/** The setup command of a session's sandbox: `SVC_SETUP`, as JSON. */
export interface DaemonSetup {
  /** A shell command, run in the workspace before the agent starts. */
  command: string;
  timeoutMs: number;
}

/** `running`: the command has not ended. */
const SETUP_STATES = ["running", "ok", "failed"] as const;

/** The setup in the daemon's health. */
export interface DaemonSetupStatus {
  state: (typeof SETUP_STATES)[number];
  /** Why it failed, such as `exit 1`; null unless `failed`. */
  problem: string | null;
  /** The last lines of the output of a command that failed. */
  output: readonly string[];
}

/** How the setup of a session ended. */
export const SETUP_RESULTS = ["ok", "failed"] as const;

/** The time limit of the command: the default, in minutes. */
export const SETUP_MINUTES = 15;
/** Lines and characters of a line of the output that are kept of a command that failed. */
export const SETUP_OUTPUT = { lines: 20, characters: 500 } as const;

/** Whether a value of a sandbox, which is not trusted, is a status. */
export function isSetupStatus(value: unknown): value is DaemonSetupStatus {
  if (!isObject(value)) return false;
  const { state, problem, output } = value;
  return (
    SETUP_STATES.some((each) => each === state) &&
    (problem === null || isShort(problem)) &&
    Array.isArray(output) &&
    output.length <= SETUP_OUTPUT.lines &&
    output.every(isShort)
  );
}

const isShort = (value: unknown): boolean =>
  typeof value === "string" && value.length <= SETUP_OUTPUT.characters;
