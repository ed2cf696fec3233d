import type { AppLogLine } from "../src/contract/app.ts";
import type { ErrorCode } from "../src/contract/errors.ts";
import type { LogLine } from "../src/contract/session.ts";

/** Codes of errors that the CLI itself detects. docs/troubleshooting.md has a section for each that is printed. */
export const LOCAL_CODES = [
  "usage",
  "cancelled",
  "not_signed_in",
  "no_project",
  "project_exists",
  "config_invalid",
  "config_busy",
  "link_invalid",
  "link_mismatch",
  "host_unknown",
  "network",
  "timeout",
  "unexpected_response",
  "login_failed",
  "file",
  "git",
  "manifest_invalid",
  "self_host",
  "not_fast_forward",
  "session_failed",
  "session_stopped",
  "session_deleted",
  "deployment_failed",
  "checks_failed",
  "checks_pending",
  "dequeued",
  "still_queued",
  "domain_unproven",
  "webhook_failed",
  "channel_failed",
  "run_failed",
  "run_aborted",
  "run_rejected",
  "run_cut_off",
  "run_unanswered",
  "jq",
  "install_record_invalid",
  "update_unsupported",
  "update_failed",
  "demo_failed",
  "demo_stuck",
  "runtime_missing",
  "not_connected",
  "prompt_failed",
  "prompt_aborted",
  "prompt_interrupted",
  "agent_waiting",
] as const;

export type LocalCode = (typeof LOCAL_CODES)[number];

/** The code of another error, or of a host's answer: a newer host may have codes that this version does not know. */
interface Coded {
  code: string;
}

interface Extra {
  hint?: string | undefined;
  request_id?: string | undefined;
  conflicts?: string[] | undefined;
  /** The commit whose rebase gave the conflicts. */
  commit?: string | undefined;
  /** The account's limit of running sessions. */
  limit?: number | undefined;
  active_sessions?: number | undefined;
  session_id?: string | undefined;
  /** The end of the related log. */
  log?: readonly (LogLine | AppLogLine | LocalLogLine)[] | undefined;
}

/** A line of a log on this machine. */
interface LocalLogLine {
  source: string;
  text: string;
}

/** An expected error: a message, a hint and the exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: string;
  readonly extra: Extra;

  constructor(code: LocalCode | ErrorCode | Coded, message: string, extra: Extra = {}) {
    super(message);
    this.code = typeof code === "string" ? code : code.code;
    this.extra = extra;
  }

  /** Spec 7: 2 for an invalid command line, 1 for every other failure. */
  get exit(): 1 | 2 {
    return this.code === "usage" ? 2 : 1;
  }
}

/** A bad flag, an unknown command or a missing argument. */
export const usage = (message: string, hint?: string): CliError => new CliError("usage", message, { hint });

/** The reader of the output has closed it (`svc … | head -1`). Not a failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** The system error code (`ENOENT`), if there is one. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Ends svc with the exit status of a program that has reported everything itself. */
export class ProgramExit extends Error {
  override readonly name = "ProgramExit";
  readonly status: number;

  constructor(status: number) {
    super(`exit status ${status}`);
    this.status = status;
  }
}
