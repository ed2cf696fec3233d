import type { MissingReview } from "./code-owners.ts";

/**
 * The error codes of the API and their HTTP statuses (contract: URLs, errors, auth).
 * A code never changes its meaning: clients branch on it, people read the message.
 */
export const ERROR_STATUS = {
  // malformed input
  validation_failed: 400,
  invalid_json: 400,
  invalid_ref: 400,
  ref_not_found: 400,
  invalid_repo_url: 400,
  repo_not_allowed: 400,
  url_not_allowed: 400,
  reserved_name: 400,
  // device flow (RFC 8628, 3.5)
  authorization_pending: 400,
  slow_down: 400,
  access_denied: 400,
  expired_token: 400,
  // authentication and authorization
  unauthorized: 401,
  bad_credentials: 401,
  budget_exceeded: 402,
  forbidden: 403,
  insufficient_scope: 403,
  agent_merge_forbidden: 403,
  sign_up_closed: 403,
  tool_denied: 403,
  // the requested resource
  not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  // the state of the resource does not allow the request
  not_open: 409,
  not_closed: 409,
  not_merged: 409,
  already_merged: 409,
  already_open: 409,
  merge_conflict: 409,
  merge_in_progress: 409,
  nothing_to_merge: 409,
  nothing_to_revert: 409,
  nothing_to_roll_back: 409,
  volume_in_use: 409,
  merge_method_not_allowed: 409,
  too_many_commits: 409,
  unrelated_histories: 409,
  base_moved: 409,
  push_rejected: 409,
  branch_missing: 409,
  branch_exists: 409,
  label_exists: 409,
  slug_taken: 409,
  email_taken: 409,
  last_owner: 409,
  secret_missing: 409,
  session_exists: 409,
  session_busy: 409,
  session_failed: 409,
  nothing_to_abort: 409,
  not_waiting: 409,
  approval_required: 409,
  code_owner_review_required: 409,
  changes_requested: 409,
  draft: 409,
  checks_required: 409,
  head_moved: 409,
  suggestion_outdated: 409,
  no_open_comments: 409,
  no_conflicts: 409,
  no_failed_checks: 409,
  prompt_exists: 409,
  prompt_not_queued: 409,
  too_many_comments: 409,
  app_disabled: 409,
  domain_exists: 409,
  too_many_domains: 409,
  webhook_disabled: 409,
  channel_taken: 409,
  runtime_not_installed: 409,
  approval_pending: 409,
  ask_closed: 409,
  refresh_in_progress: 409,
  not_fast_forward: 409,
  request_timeout: 408,
  payload_too_large: 413,
  head_too_large: 431,
  concurrent_session_limit: 429,
  prompt_queue_full: 429,
  merge_queue_full: 429,
  too_many_commands: 429,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  version_not_supported: 505,
  // a system behind svc failed
  repo_unreachable: 502,
  merge_engine_failed: 502,
  sandbox_unreachable: 502,
  nothing_listening: 502,
  model_unreachable: 502,
  slack_unreachable: 502,
  connector_failed: 502,
  not_running: 503,
  unavailable: 503,
  model_timeout: 504,
  disk_full: 507,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Codes for requests that fail in the HTTP parser, by status. */
export const HTTP_ERRORS: Readonly<Record<number, ErrorCode>> = {
  400: "validation_failed",
  408: "request_timeout",
  413: "payload_too_large",
  431: "head_too_large",
  501: "not_implemented",
  505: "version_not_supported",
};

/** Additional keys of some codes. */
export interface ErrorExtra {
  conflicts?: string[];
  /** The commit of the head whose rebase gave these conflicts. */
  commit?: string;
  /** The merge methods that the project allows. */
  methods?: string[];
  limit?: number;
  active_sessions?: number;
  /** The approvals that a merge requires, and has. */
  required?: number;
  approvals?: number;
  /** The files that no code owner has approved. */
  missing?: MissingReview[];
  /** Who has requested changes. */
  by?: { user_id: string; name: string }[];
  /** The required checks that have not passed; null: not reported. */
  checks?: { context: string; state: string | null }[];
  /** The change request that is open already. */
  number?: number;
  url?: string;
  /** The current head of a change request, and the one that the caller expected. */
  head_commit_sha?: string;
  expected?: string;
  /** The status of the session, if the error depends on it. */
  status?: string;
  details?: { path: string; message: string }[];
  request_id?: string;
}

/** The body of every error response. */
export interface ErrorBody extends ErrorExtra {
  error: string;
  code: ErrorCode;
}

/**
 * The error that svc throws on purpose. `message` is sent to the caller, so it must not contain a credential, SQL or a
 * path of the server. Any other error is `internal`: logged, and hidden from the caller.
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly code: ErrorCode;
  readonly extra: ErrorExtra;
  /** Response headers that belong to the error, such as `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    extra: ErrorExtra = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.code = code;
    this.extra = extra;
    this.headers = headers;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}
